import { execFile } from 'node:child_process';
import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { RefusedDecision } from '../../../application/administrator/decisions.ts';
import { fileDeadLetters } from '../../../infrastructure/administrator/file-dead-letters.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();

const refused = (decisionId: string): RefusedDecision => ({
  decisionId,
  text: '{"decision":\n"approve"}',
  origin: 'line 1',
  reason: { code: 'loan_not_found', message: 'no such operation', details: [] },
  refusedAt: '2026-06-20T12:00:00.000Z',
});
const idsIn = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { decision_id: string }).decision_id);

test('refused decisions are added line by line, by any number of writers, for the eyes of the owner only', async () => {
  const path = join(directory, 'refused.jsonl');
  const writers = [fileDeadLetters(path), fileDeadLetters(path)];
  const ids = Array.from({ length: 40 }, (_, i) => `D-${i}`);
  await Promise.all(ids.map((id, i) => writers[i % 2]!.put(refused(id))));
  expect((await idsIn(path)).sort()).toEqual(ids.sort());
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('the file may be moved away at any time', async () => {
  const path = join(directory, 'moved.jsonl');
  const letters = fileDeadLetters(path);
  await letters.put(refused('D-1'));
  await rename(path, `${path}.mending`);
  await letters.put(refused('D-2'));
  expect([await idsIn(`${path}.mending`), await idsIn(path)]).toEqual([['D-1'], ['D-2']]);
});

test('a folder that is not there is a failure that can pass', async () => {
  const letters = fileDeadLetters(join(directory, 'none', 'x.jsonl'));
  await expect(letters.put(refused('D-1'))).rejects.toThrow('ENOENT');
});

test('one for which there is only half the room has not been kept, which is said, and spoils no other', async () => {
  const path = join(directory, 'full.jsonl');
  const module = new URL('../../../infrastructure/administrator/file-dead-letters.ts', import.meta.url);
  const letter = { ...refused('D-1'), text: 'x'.repeat(3_000) };
  const script = `import { fileDeadLetters } from '${module.href}';
    await fileDeadLetters('${path}').put(${JSON.stringify(letter)}).then(() => console.log('kept'), ({ code }) => console.log(code))`;
  const limited = 'ulimit -f 2; exec "$0" --disable-warning=ExperimentalWarning --input-type=module -e "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script]);
  expect(stdout).toBe('EFBIG\n');
  await fileDeadLetters(path).put(refused('D-2'));
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ decision_id: 'D-2' });
});

test('a device takes them, which keeps nothing on a disk', async () => {
  await fileDeadLetters('/dev/null').put(refused('D-1'));
});
