import { expect, test } from '@jest/globals';
import manifest from '../../../clients/typescript/package.json' with { type: 'json' };
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';

test('the package for Node.js has the version of the description, and needs no other package', () => {
  expect(manifest.version).toBe(API_VERSION);
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
});
