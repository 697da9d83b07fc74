import { posix } from 'node:path';
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import { GUIDES } from './guide-list.ts';
import type { Guide } from './guide-list.ts';

export interface Heading {
  readonly level: number;
  readonly anchor: string;
  readonly text: string;
}

/** A heading and what stands below it, as plain text, blocks of code apart. */
interface Section {
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
  readonly code: string;
}

interface RenderedMarkdown {
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
  readonly html: string;
}

/** As code hosts make them of headings, so that one link works there and here. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const SHOWN = new Set(['text', 'code_inline', 'image', 'text_special']);

const textOf = (inline: Token): string =>
  (inline.children ?? [])
    .map(({ type, content }) => (SHOWN.has(type) ? content : type.endsWith('break') ? ' ' : ''))
    .join('');

const takeApart = (tokens: readonly Token[]): Pick<RenderedMarkdown, 'headings' | 'sections'> => {
  const headings: Heading[] = [];
  const sections: { anchor: string; heading: string; text: string; code: string }[] = [];
  const taken = new Map<string, number>();
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const text = textOf(tokens[at + 1]!);
      const plain = anchorOf(text);
      const before = taken.get(plain) ?? 0;
      taken.set(plain, before + 1);
      const anchor = before === 0 ? plain : `${plain}-${before}`;
      token.attrSet('id', anchor);
      headings.push({ level: Number(token.tag.slice(1)), anchor, text });
      sections.push({ anchor, heading: text, text: '', code: '' });
    } else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') {
      const section = sections.at(-1);
      if (section) section.text += `${textOf(token)} `;
    } else if (token.type === 'fence' || token.type === 'code_block') {
      const section = sections.at(-1);
      if (section) section.code += `${token.content} `;
    }
  });
  return { headings, sections };
};

interface Place {
  readonly href: string;
  readonly guide?: Guide;
}

/** Where a link of a file leads to: a place of the served guides, or a file that is not among them. */
const placeOf = (file: string, href: string): Place | { readonly elsewhere: string } => {
  if (/^[a-z][a-z\d+.-]*:/i.test(href) || href.startsWith('#')) return { href };
  const [path = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), path);
  const guide = GUIDES.find((one) => one.file === target);
  if (!guide) return { elsewhere: posix.join('docs', target) };
  return { href: anchor === undefined ? guide.name : `${guide.name}#${anchor}`, guide };
};

const nameLink = (text: Token | undefined, { guide }: Place): void => {
  if (text && guide && text.content === posix.basename(guide.file)) text.content = guide.title;
};

const isComment = (text: string): boolean => text.startsWith('<!--') && text.trimEnd().endsWith('-->');

/**
 * A file of docs/ as HTML. Whatever HTML it holds is shown as text, comments are left out; links to other guides lead to their pages,
 * links to files that are not served say where the file is, and a request that is named as code leads to the reference.
 * @param places where the reference shows a request, by `METHOD /path`
 */
export const renderMarkdown = (
  text: string,
  file: string,
  places: ReadonlyMap<string, string>,
): RenderedMarkdown => {
  const markdown = new MarkdownIt({ html: true });
  const { escapeHtml } = markdown.utils;
  const { rules } = markdown.renderer;
  /** What ends each link around the present place, the innermost last. */
  const open: string[] = [];
  const link = (place: string): string => `<a href="${escapeHtml(place)}">`;

  rules['html_block'] = (tokens, at) => {
    const { content } = tokens[at]!;
    return isComment(content) ? '' : `<p>${escapeHtml(content)}</p>\n`;
  };
  rules['html_inline'] = rules['image'] = (tokens, at) => escapeHtml(tokens[at]!.content);
  // What may be wider than the page scrolls by itself, and can be reached with the keyboard.
  rules['fence'] = rules['code_block'] = (tokens, at) =>
    `<pre tabindex="0"><code>${escapeHtml(tokens[at]!.content)}</code></pre>\n`;
  rules['table_open'] = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  rules['heading_open'] = (tokens, at) => {
    const { tag } = tokens[at]!;
    const anchor = escapeHtml(String(tokens[at]!.attrGet('id')));
    open.push('</a>');
    return `<${tag} id="${anchor}"><a href="#${anchor}">`;
  };
  rules['heading_close'] = (tokens, at) => `${open.pop()}</${tokens[at]!.tag}>\n`;
  rules['link_open'] = (tokens, at) => {
    const place = placeOf(file, String(tokens[at]!.attrGet('href')));
    if (open.length > 0) open.push('');
    else if ('elsewhere' in place)
      open.push(` <span class="elsewhere">(${escapeHtml(place.elsewhere)})</span>`);
    else {
      nameLink(tokens[at + 1], place);
      open.push('</a>');
      return link(place.href);
    }
    return '';
  };
  rules['link_close'] = () => open.pop() ?? '';
  rules['code_inline'] = (tokens, at) => {
    const { content } = tokens[at]!;
    const code = `<code>${escapeHtml(content)}</code>`;
    const place = places.get(content.split('?', 1)[0]!);
    return place === undefined || open.length > 0 ? code : `${link(place)}${code}</a>`;
  };

  const tokens = markdown.parse(text, {});
  return { ...takeApart(tokens), html: markdown.renderer.render(tokens, markdown.options, {}) };
};
