import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { actingOn } from '../../../application/processors/acting.ts';
import { sampleEvent } from '../../contracts/event-store-samples.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MemoryCheckpoints } from '../../support/log-followers.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

const following = async () => {
  const log = new InMemoryEventStore();
  const checkpoints = new MemoryCheckpoints();
  const moves: string[] = [];
  const move = checkpoints.move;
  checkpoints.move = (name, from, to) => {
    moves.push(to);
    return move(name, from, to);
  };
  const acted: string[] = [];
  const runner = actingOn(
    { subscription: log, checkpoints, logger: new RecordingLogger(), sleep: async () => undefined },
    {
      name: 'tested',
      asking: new Set(['asks.v1']),
      act: async (events) => void acted.push(...events.map(({ position }) => position)),
    },
  );
  const tell = async (type: string): Promise<string> => {
    const event = { ...sampleEvent('{}'), id: randomUUID(), type };
    return (await log.append('loan-a.1', await log.head('loan-a.1'), [event])).position;
  };
  runner.start();
  await until(() => runner.status().caughtUp);
  return { runner, tell, moves, acted };
};

test('events that ask for nothing move no place, until one does', async () => {
  const { runner, tell, moves, acted } = await following();
  for (let n = 0; n < 5; n += 1) await tell('passes.v1');
  const asked = await tell('asks.v1');
  await until(() => moves.length > 0);
  expect([moves, acted]).toEqual([[asked], [asked]]);
  await runner.stop();
});

test('many that ask for nothing move it, but not one by one', async () => {
  const { runner, tell, moves, acted } = await following();
  for (let n = 0; n < 700; n += 1) await tell('passes.v1');
  await until(() => moves.length > 0);
  await runner.stop();
  expect(moves.length).toBeLessThanOrEqual(2);
  expect(parseInt(moves[0]!, 10)).toBeGreaterThanOrEqual(500);
  expect(acted).toEqual([]);
});
