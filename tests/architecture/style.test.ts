import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const LONGEST_FILE = 300;
/** Tests of one subject read better in one file, tables and all. */
const LONGEST_TEST = 450;

const files = globSync('{domain,application,projections,infrastructure,clients,tests}/**/*.ts', {
  cwd: ROOT,
  exclude: ['clients/*/{dist,src/generated}/**'],
}).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}));
const pathsWhere = (broken: (text: string, path: string) => boolean): string[] =>
  files.filter(({ text, path }) => broken(text, path)).map(({ path }) => path);

describe('style', () => {
  test('there are files to look at', () => {
    expect(files.length).toBeGreaterThan(50);
  });

  test(`no file is longer than ${LONGEST_FILE} lines, no test than ${LONGEST_TEST}`, () => {
    const bound = (path: string): number =>
      /\.(test|long|distributed|browser)\.ts$/.test(path) ? LONGEST_TEST : LONGEST_FILE;
    expect(pathsWhere((text, path) => text.split('\n').length - 1 > bound(path))).toEqual([]);
  });

  test('every export has a name, but where a declaration describes a package', () => {
    expect(
      pathsWhere(
        (text, path) =>
          !path.endsWith('.d.ts') && /^export default\b|^export \{[^}]*\bas default\b/m.test(text),
      ),
    ).toEqual([]);
  });

  test('what a file exports, another one names', () => {
    const naming = new Map<string, number>();
    for (const { text } of files)
      for (const name of new Set(text.match(/\b[A-Za-z_]\w*/g)))
        naming.set(name, (naming.get(name) ?? 0) + 1);
    const declared = /^export (?:abstract |async )?(?:interface|type|class|const|function\*?) (\w+)/gm;
    const unused = files.flatMap(({ text, path }) =>
      path.startsWith('tests/')
        ? []
        : [...text.matchAll(declared)]
            .filter(([, name]) => naming.get(name!) === 1)
            .map(([, name]) => `${path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  test('what files of tests share registers nothing where it is loaded, which is once for all of them', () => {
    const registers = /^(?:before|after)(?:All|Each)\(|^jest\./m;
    expect(
      pathsWhere(
        (text, path) =>
          path.startsWith('tests/') &&
          !/\.(test|long|distributed|browser|python)\.ts$/.test(path) &&
          registers.test(text),
      ),
    ).toEqual([]);
  });

  test('no test is skipped or singled out', () => {
    expect(
      pathsWhere((text) => /^\s*(x?(test|it|describe)\.(skip|only)|xtest|xit|xdescribe)\b/m.test(text)),
    ).toEqual([]);
  });
});
