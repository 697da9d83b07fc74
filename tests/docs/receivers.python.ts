import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { EXPECTED, documentedCode, receive } from '../support/documented-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const VERIFIER = join(import.meta.dirname, '../../docs/webhook-verifier/verify.py');
/** An interpreter that has FastAPI and uvicorn; see .ci/run. */
const python = process.env['PYTHON'] ?? 'python3';

test('the receiver with FastAPI takes what is genuine, once, and nothing else', async () => {
  const folder = temporaryDirectory();
  await copyFile(VERIFIER, join(folder, 'verify.py'));
  await writeFile(join(folder, 'receiver.py'), documentedCode('webhook-verifier/README.md', 'receiver.py'));
  const server = [
    '-m',
    'uvicorn',
    'receiver:app',
    '--host',
    '127.0.0.1',
    '--port',
    '{port}',
    '--no-access-log',
  ];
  expect(await receive([python, ...server], folder)).toEqual(EXPECTED);
});
