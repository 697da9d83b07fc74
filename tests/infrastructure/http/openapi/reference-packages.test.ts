import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../../../..');
const manifestOf = (path: string) =>
  JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Readonly<Record<string, unknown>>;

/** It is served as one file that holds all it needs: what it names besides would only be installed, not used. */
test('every package that the reference names is replaced by one that holds nothing, and no other', () => {
  const { overrides } = manifestOf('') as {
    overrides: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  const { dependencies } = manifestOf('node_modules/@scalar/api-reference') as { dependencies: object };
  const replaced = overrides['@scalar/api-reference']!;
  expect(Object.keys(replaced).toSorted()).toEqual(Object.keys(dependencies).toSorted());
  expect(new Set(Object.values(replaced))).toEqual(new Set(['npm:@favware/skip-dependency@1.2.2']));
});
