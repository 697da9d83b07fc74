import { describe, expect, test } from '@jest/globals';
import type { MoveTargets } from '../../../infrastructure/cli/command-line.ts';
import { openMoveFor } from '../../../infrastructure/composition/maintenance/migrate.ts';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { commandLine, maintaining } from '../../support/command-line.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { MovableClock, SandboxClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const moving = (execute: (done: (steps: number) => void) => Promise<object>) => {
  const asked: MoveTargets[] = [];
  const seen = { total: 0, advanced: 0, ended: 0, closed: 0 };
  const run = commandLine(() => ({}), {
    openMove: async (targets) => {
      asked.push(targets);
      return { steps: async () => 3, execute, close: async () => void seen.closed++ };
    },
    startProgress: (total) => {
      seen.total = total;
      return {
        advance: (steps = 1) => void (seen.advanced += steps),
        [Symbol.dispose]: () => void seen.ended++,
      };
    },
  });
  return { run, asked, seen };
};

describe('receivables migrate', () => {
  test('moves to the engines that it names, shows how far it is, and prints what was moved', async () => {
    const { run, asked, seen } = moving(async (done) => {
      done(2);
      done(1);
      return { events: 3 };
    });
    const to = ['--to', 'eventstore=esdb://h:1?tls=false', '--to', 'database=postgres://h/d'];
    expect(await run('migrate', ...to)).toMatchObject({ code: 0, out: '{"events":3}\n' });
    expect(asked).toEqual([{ eventstore: 'esdb://h:1?tls=false', database: 'postgres://h/d' }]);
    expect(seen).toEqual({ total: 3, advanced: 3, ended: 1, closed: 1 });
  });

  test('takes the engines from the environment where it names none', async () => {
    const { run, asked } = moving(async () => ({}));
    await run('migrate');
    expect(asked).toEqual([{}]);
  });

  test('fails in order, with the reason, and lets go of everything', async () => {
    const { run, seen } = moving(() => Promise.reject(new Error('the database holds other data')));
    expect(await run('migrate')).toMatchObject({
      code: 1,
      out: '',
      err: 'error: the database holds other data\n',
    });
    expect(seen).toMatchObject({ ended: 1, closed: 1 });
  });

  test.each([
    [[], 'name the database'],
    [['--to', 'database=postgres://h/d', '--to', 'documents=nowhere'], 'document storage'],
    [['--to', 'database=nowhere'], 'the address of the database must start with postgres://'],
    [['--to', 'database=postgres://h:65536/d'], 'the address of the database cannot be read'],
    [['--to', 'database=postgres://h/d', '--to', 'eventstore=nowhere'], 'esdb://host:2113'],
  ])('does not begin without knowing where to: %j', async (args, message) => {
    const openMove = (targets: MoveTargets) =>
      openMoveFor(readConfiguration({}), targets, new RecordingLogger());
    const { code, err } = await commandLine(() => ({}), { openMove })('migrate', ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  test.each(['kafka=localhost:9092', 'database', 'database='])('does not know --to %s', async (to) => {
    const { run, asked } = moving(async () => ({}));
    expect((await run('migrate', '--to', to)).code).toBe(2);
    expect(asked).toEqual([]);
  });
});

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
