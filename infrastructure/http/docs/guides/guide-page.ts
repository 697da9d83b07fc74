import { GUIDE_GROUPS } from './guide-list.ts';
import type { Heading } from './markdown.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign]!);

export const LONGEST_QUESTION = 100;

export interface PageParts {
  readonly title: string;
  /** From the address of the page to /docs/: all addresses are relative, so that a path in front of them does not matter. */
  readonly toDocs: '' | '../';
  readonly stylesheet: string;
  readonly name?: string;
  readonly headings?: readonly Heading[];
  readonly question?: string;
  readonly main: string;
  readonly isList?: true;
}

const listOfGuides = ({ toDocs, name, isList }: PageParts): string => {
  if (isList) return '';
  const groups = GUIDE_GROUPS.map(({ name: group, guides }) => {
    const lines = guides.map((guide) => {
      const current = guide.name === name ? ' aria-current="page"' : '';
      return `<li><a href="${toDocs}guides/${guide.name}"${current}>${escaped(guide.title)}</a></li>`;
    });
    return `<h2>${escaped(group)}</h2>\n<ul>${lines.join('')}</ul>`;
  });
  return `<nav class="guides" aria-label="All guides">\n${groups.join('\n')}\n</nav>`;
};

const contentsOf = ({ headings = [] }: PageParts): string => {
  const lines = headings
    .filter(({ level }) => level === 2 || level === 3)
    .map(
      ({ level, anchor, text }) =>
        `<li class="level-${level}"><a href="#${escaped(anchor)}">${escaped(text)}</a></li>`,
    );
  if (lines.length < 2) return '';
  return `<nav class="contents" aria-labelledby="contents"><h2 id="contents">On this page</h2><ul>${lines.join('')}</ul></nav>`;
};

/** One page: the guide in the middle, what it holds and all other guides beside it. It needs no script. */
export const guidePage = (parts: PageParts): string => {
  const { title, toDocs, stylesheet, question = '', main } = parts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${toDocs}${stylesheet}">
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header>
<nav aria-label="Documentation"><a href="${toDocs}guides">Guides</a> <a href="${toDocs}../docs">Reference</a></nav>
<form role="search" action="${toDocs}search">
<input type="search" name="q" aria-label="Search the guides" placeholder="Search the guides" maxlength="${LONGEST_QUESTION}" value="${escaped(question)}">
<button>Search</button>
</form>
</header>
<div class="page">
<main id="main">
${main}</main>
${contentsOf(parts)}
${listOfGuides(parts)}
</div>
</body>
</html>
`;
};

export const listOfAll = (): string =>
  `<h1>Guides</h1>\n<p>How to do things with the interface. Each request with all of its fields is in the <a href="../docs">reference</a>.</p>\n${GUIDE_GROUPS.map(
    ({ name, guides }) =>
      `<h2>${escaped(name)}</h2>\n<dl>${guides
        .map(
          (guide) =>
            `<dt><a href="guides/${guide.name}">${escaped(guide.title)}</a></dt><dd>${escaped(guide.about)}</dd>`,
        )
        .join('\n')}</dl>\n`,
  ).join('')}`;
