import { describe, expect, test } from '@jest/globals';
import type { ListedTopic, PublicEvent, Topics } from '../../../application/ports/event-bus.ts';
import type { Publication } from '../../../application/publication/publication.ts';
import { NotAcceptedError } from '../../../application/ports/event-bus.ts';
import { commandLine } from '../../support/command-line.ts';
import type { LateEvent } from '../../../application/webhooks/late-events.ts';
import type { Webhooks } from '../../../application/webhooks/webhooks.ts';

const sound: ListedTopic = {
  topic: 'receivables.events',
  partitions: 24,
  spreadOver: 12,
  waiting: 7,
  copies: 3,
  minInsyncReplicas: 2,
  retentionMs: 1_209_600_000,
  problems: [
    {
      problem: 'has 24 partitions, operations are spread over 12',
      command: 'receivables topics accept-partitions receivables.events',
    },
  ],
};
const missing: ListedTopic = {
  ...{ topic: 'receivables.events.dead-letter', partitions: 0, spreadOver: undefined, waiting: 0, copies: 0 },
  ...{ minInsyncReplicas: undefined, retentionMs: undefined, problems: [] },
};

const run = (accept: Topics['acceptPartitions'] = async () => ({ before: 12, partitions: 24 })) =>
  commandLine(() => ({
    publication: {
      topics: async () => ({ list: async () => [sound, missing], acceptPartitions: accept }),
    } as unknown as Publication,
  }));

describe('topics', () => {
  test('list prints each topic with what it lacks and the command that mends it', async () => {
    const { code, lines } = await run()('topics', 'list');
    expect(code).toBe(0);
    expect(lines).toEqual([
      {
        ...{ topic: 'receivables.events', partitions: 24, spread_over: 12, waiting: 7, copies: 3 },
        ...{ min_insync_replicas: 2, retention_ms: 1_209_600_000 },
        problems: ['has 24 partitions, operations are spread over 12'],
        mend: ['receivables topics accept-partitions receivables.events'],
      },
      {
        ...{ topic: 'receivables.events.dead-letter', partitions: 0, waiting: 0, copies: 0 },
        ...{ problems: [], mend: [] },
      },
    ]);
  });

  test('a table leaves the commands out, which may be long', async () => {
    const { out } = await run()('topics', 'list', '-o', 'table');
    expect(out).toContain('has 24 partitions');
    expect(out).not.toContain('accept-partitions');
  });

  test('accept-partitions says what became of it', async () => {
    const { code, lines } = await run()('topics', 'accept-partitions', 'receivables.events');
    expect([code, lines]).toEqual([0, [{ topic: 'receivables.events', before: 12, partitions: 24 }]]);
  });

  test('accept-partitions ends with 3 as long as it is not allowed', async () => {
    const { code, err } = await run(async () => {
      throw new NotAcceptedError('7 messages wait');
    })('topics', 'accept-partitions', 'receivables.events');
    expect([code, err]).toEqual([3, expect.stringContaining('7 messages wait')]);
  });
});

const late = (eventId: string, sequence: number, changes: Partial<LateEvent> = {}): LateEvent => ({
  ...{ eventId, name: 'installment_settled', applicationId: 'app-1', code: 'OP-1', group: 'webhooks' },
  ...{ reason: `comes after sequence 9`, topic: 'receivables.events', partition: 4, offset: sequence },
  ...{ putAsideAt: '2026-01-15T12:00:00.000Z', event: { sequence } as PublicEvent, handled: false },
  ...changes,
});

const send = async (letters: readonly LateEvent[], ...args: readonly string[]) => {
  const sent: string[] = [];
  const services = {
    webhooks: {
      lateEvents: async () => ({
        list: async () => letters,
        send: async ({ eventId, handled }: LateEvent & { readonly eventId: string }) => {
          sent.push(eventId);
          return { eventId, outcome: handled ? 'already' : 'queued', webhookIds: ['w'] };
        },
      }),
    } as unknown as Webhooks,
  };
  return { ...(await commandLine(() => services)('dead-letter', ...args)), sent };
};

describe('dead-letter', () => {
  test('list tells what became of each', async () => {
    const letters = [late('a', 3), late('b', 4, { handled: true }), late('c', 5, { event: undefined })];
    const { lines } = await send(letters, 'list', '-o', 'json');
    expect(lines.map(({ event_id, state }) => [event_id, state])).toEqual([
      ['a', 'waiting'],
      ['b', 'sent'],
      ['c', 'unknown'],
    ]);
    expect(lines[0]).toMatchObject({
      originator_proposal_code: 'OP-1',
      reason: 'comes after sequence 9',
      offset: 3,
    });
  });

  test('send makes webhooks of one event, or of all of an operation, oldest first, and says that they are late', async () => {
    const letters = [late('b', 4), late('a', 3), late('z', 1, { code: 'OP-2' })];
    const one = await send(letters, 'send', 'b');
    expect([one.code, one.sent, one.lines]).toEqual([
      0,
      ['b'],
      [{ event_id: 'b', outcome: 'queued', webhook_ids: ['w'] }],
    ]);
    expect(one.err).toContain('out of order');
    expect((await send(letters, 'send', '--code', 'OP-1')).sent).toEqual(['a', 'b']);
  });

  test('send ends with 3 for what was never put aside, and with 2 where it is not clear what is meant', async () => {
    const letters = [late('a', 3), late('b', 4, { applicationId: 'app-2' })];
    expect((await send(letters, 'send', 'x')).code).toBe(3);
    expect((await send(letters, 'send')).code).toBe(2);
    expect((await send(letters, 'send', 'a', '--code', 'OP-1')).code).toBe(2);
    const { code, sent } = await send(letters, 'send', '--code', 'OP-1');
    expect([code, sent]).toEqual([2, []]);
  });
});
