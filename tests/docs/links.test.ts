import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync(['docs/**/*.md', 'clients/*/README.md'], { cwd: root }),
];
const contents = (page: string): string => readFileSync(join(root, page), 'utf8');

/** As code hosts make them of headings. */
const anchorsOf = (page: string): readonly string[] =>
  [...contents(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const linksOf = (page: string): readonly string[] =>
  [...contents(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

const leadsSomewhere = (page: string, target: string): boolean => {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page : relative(root, join(root, dirname(page), file));
  return existsSync(join(root, path)) && (anchor === undefined || anchorsOf(path).includes(anchor));
};

describe('the pages', () => {
  test.each(pages)('%s links to what is there', (page) => {
    expect(linksOf(page).filter((target) => !leadsSomewhere(page, target))).toEqual([]);
  });

  test.each(pages)('%s names files of the product that are there', (page) => {
    const named = [
      ...contents(page).matchAll(/`((?:domain|application|projections|infrastructure|tests)\/[\w./-]+)`/g),
    ];
    expect(named.flatMap(([, path = '']) => (existsSync(join(root, path)) ? [] : [path]))).toEqual([]);
  });

  test('are all listed in the README', () => {
    const listed = linksOf('README.md');
    const expected = globSync(['docs/*.md', 'docs/*/README.md', 'clients/*/README.md'], { cwd: root });
    expect(expected.filter((page) => !listed.includes(page))).toEqual([]);
  });
});
