import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { OutputClosedError } from '../../../infrastructure/cli/command-line.ts';
import { CommandOutput } from '../../../infrastructure/cli/terminal.ts';

const failing = (code: string): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) => setImmediate(done, Object.assign(new Error(code), { code })),
  });

test('a disk that is full is told at the end, ends what goes on writing, and no process', async () => {
  const output = new CommandOutput(failing('ENOSPC'), [failing('ENOSPC')]);
  await output.write('taken before it is known that it cannot be written');
  expect(await output.failure()).toMatchObject({ code: 'ENOSPC' });
  expect(output.closed.aborted).toBe(true);
  await expect(output.write('more')).rejects.toThrow(OutputClosedError);
});

test('a reader that has left is no failure', async () => {
  const output = new CommandOutput(failing('EPIPE'));
  await output.write('a line');
  expect(await output.failure()).toBeUndefined();
  await expect(output.write('more')).rejects.toThrow(OutputClosedError);
});

test('standard error that takes nothing ends nothing', async () => {
  const errors = failing('ENOSPC');
  const output = new CommandOutput(new Writable({ write: (_chunk, _encoding, done) => done() }), [errors]);
  const failed = new Promise((resolve) => errors.once('error', resolve));
  errors.write('a warning');
  await failed;
  await output.write('an answer');
  expect(await output.failure()).toBeUndefined();
});
