import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { EXPECTED, documentedCode, receive } from '../support/documented-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the receiver with Express takes what is genuine, once, and nothing else', async () => {
  const folder = temporaryDirectory();
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await copyFile(join(ROOT, 'docs/webhook-verifier/verify.mjs'), join(folder, 'verify.mjs'));
  await writeFile(join(folder, 'receiver.mjs'), documentedCode('webhook-verifier/README.md', 'receiver.mjs'));
  expect(await receive([process.execPath, 'receiver.mjs'], folder)).toEqual(EXPECTED);
});
