import { expect, test } from '@jest/globals';
import { MovableClock, SandboxClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import { commandLine, maintaining } from '../../support/command-line.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const sandbox = () => {
  const realClock = new ManualClock('2026-01-15T12:00:00.000Z');
  const clock = new MovableClock(() => Date.parse(realClock.realNow()));
  let stored = 0;
  const offset = {
    read: () => Promise.resolve(stored),
    replace: (from: number, to: number) => Promise.resolve(from === stored && ((stored = to), true)),
  };
  const sleep = (): Promise<void> => Promise.resolve();
  const sandboxClock = new SandboxClock({ clock, realClock, offset, logger: new RecordingLogger(), sleep });
  return commandLine(() => maintaining({ sandboxClock }));
};

test('shows and moves the clock', async () => {
  const receivables = sandbox();
  expect((await receivables('sandbox', 'clock')).lines).toEqual([
    { now: '2026-01-15T12:00:00.000Z', offset_seconds: 0 },
  ]);
  expect((await receivables('sandbox', 'clock', '--advance', '30d')).lines).toEqual([
    { now: '2026-02-14T12:00:00.000Z', offset_seconds: 2_592_000 },
  ]);
  expect((await receivables('sandbox', 'clock', '--to', '2026-03-01T09:00:00-03:00')).lines).toEqual([
    { now: '2026-03-01T12:00:00.000Z', offset_seconds: 3_888_000 },
  ]);
});

test('shows it in the format that is asked for', async () => {
  const receivables = sandbox();
  expect((await receivables('sandbox', 'clock', '-o', 'csv')).out).toBe(
    'field,value\nnow,2026-01-15T12:00:00.000Z\noffset_seconds,0\n',
  );
  expect((await receivables('sandbox', 'clock', '--advance', '30d', '-o', 'table')).out).toMatch(
    /offset seconds +2592000/,
  );
});

test.each([
  [['--advance', '30'], 2, 'a whole number and a unit'],
  [['--advance', '1.5h'], 2, 'a whole number and a unit'],
  [['--to', '2026-03-01'], 2, 'an instant with its zone'],
  [['--to', '2026-03-01T00:00:00'], 2, 'an instant with its zone'],
  [['--advance', '1d', '--to', '2026-03-01T00:00:00Z'], 2, 'not both'],
  [['--to', '2026-01-15T11:00:00Z'], 3, 'only moves forward'],
  [['--advance', '4000d'], 3, '10 years ahead'],
])('%j ends with %d', async (options, code, message) => {
  const result = await sandbox()('sandbox', 'clock', ...options);
  expect([result.code, result.out]).toEqual([code, '']);
  expect(result.err).toContain(message);
});

test('in production it is refused', async () => {
  const receivables = commandLine(() => maintaining({ sandboxClock: undefined }));
  const result = await receivables('sandbox', 'clock', '--advance', '1d');
  expect([result.code, result.err]).toEqual([3, 'error: production has no clock that can be moved\n']);
});
