import { expect, test } from '@jest/globals';
import type { EventStore } from '../../../../application/ports/event-store.ts';
import { UnreadableEventError } from '../../../../application/event-codec/fields.ts';
import {
  PUBLISHING,
  QuarantinedOperations,
} from '../../../../application/maintenance/quarantine/quarantined-operations.ts';
import type { RelayQuarantine } from '../../../../application/publication/relay.ts';
import { activate, postAssignment, streamOf } from '../../../support/post-assignment.ts';

/** Only the relay knows that an operation waits: read models were built anew by a program that reads it. */
const setUp = async (events?: Pick<EventStore, 'read'>, resume = async (): Promise<void> => undefined) => {
  const world = postAssignment();
  await activate(world);
  const done: string[] = [];
  const waiting = new Set([streamOf()]);
  const relay = {
    list: async () => [...waiting].map((stream) => ({ stream })),
    waits: async (stream: string) => waiting.has(stream),
    release: async (stream: string) => {
      const held = waiting.delete(stream);
      if (held) done.push('asked');
      return held;
    },
  } as unknown as RelayQuarantine;
  const quarantine = new QuarantinedOperations({
    projections: [],
    store: { checkpoint: async () => 'start', quarantined: async () => [], apply: async () => true },
    relay,
    events: events ?? world.store,
    decode: () => undefined,
    order: { compare: () => 0 },
    renegotiation: { resolve: async () => void done.push('resolved') },
    actors: [
      {
        resume: async (stream) => {
          await resume();
          done.push(`resumed ${stream}`);
        },
      },
    ],
  });
  return { quarantine, done };
};

test('what waits for being published alone goes on everywhere before the relay takes it', async () => {
  const { quarantine, done } = await setUp();
  expect(await quarantine.release(streamOf())).toEqual([{ waitsFor: PUBLISHING, outcome: 'asked' }]);
  expect(done).toEqual([`resumed ${streamOf()}`, 'asked']);
  expect(await quarantine.release(streamOf('L2'))).toEqual([]);
});

test('it goes on waiting where what acts on it still cannot read it', async () => {
  const unreadable = new UnreadableEventError('settled_at is missing');
  const { quarantine, done } = await setUp(undefined, () => Promise.reject(unreadable));
  expect(await quarantine.release(streamOf())).toMatchObject([
    {
      waitsFor: PUBLISHING,
      outcome: 'still_waits',
      reason: expect.stringContaining('settled_at is missing'),
    },
  ]);
  expect(done).toEqual([]);
});
