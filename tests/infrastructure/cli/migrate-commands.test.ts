import { describe, expect, test } from '@jest/globals';
import type { MoveTargets } from '../../../infrastructure/cli/command-line.ts';
import { openMoveFor } from '../../../infrastructure/composition/maintenance/migrate.ts';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { commandLine } from '../../support/command-line.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

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
