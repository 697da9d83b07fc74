import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { GUIDES } from './guide-list.ts';
import { guidePage } from './guide-page.ts';
import { indexOf } from './guide-search.ts';
import { renderMarkdown } from './markdown.ts';
import type { GuidesTask, RenderedGuides } from './guides.ts';

const DOCS = new URL('../../../../docs/', import.meta.url);

const asMarkdown = (file: string, text: string): string =>
  extname(file) === '.md' ? text : `# ${file}\n\n\`\`\`\`\n${text.trimEnd()}\n\`\`\`\`\n`;

const { places, stylesheet } = workerData as GuidesTask;

const rendered = await Promise.all(
  GUIDES.map(async ({ name, title, file }) => {
    const text = asMarkdown(file, await readFile(new URL(file, DOCS), 'utf8'));
    const { headings, sections, html } = renderMarkdown(text, file, places);
    const page = guidePage({
      title: headings[0]?.text ?? title,
      toDocs: '../',
      stylesheet,
      name,
      headings,
      main: html,
    });
    const found = sections.map(({ anchor, heading, text: body, code }, at) => ({
      id: at === 0 ? name : `${name}#${anchor}`,
      guide: title,
      heading: at === 0 ? title : heading,
      text: body.replaceAll(/\s+/g, ' ').trim(),
      code,
    }));
    return { name, page, found: file.endsWith('.md') ? found : [] };
  }),
);

parentPort!.postMessage({
  pages: Object.fromEntries(rendered.map(({ name, page }) => [name, page])),
  index: indexOf(rendered.flatMap(({ found }) => found)),
} satisfies RenderedGuides);
