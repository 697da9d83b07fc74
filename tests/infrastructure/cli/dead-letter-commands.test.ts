import { describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { LateEvent } from '../../../application/webhooks/late-events.ts';
import type { Webhooks } from '../../../application/webhooks/webhooks.ts';
import { commandLine } from '../../support/command-line.ts';

const late = (eventId: string, sequence: number, changes: Partial<LateEvent> = {}): LateEvent => ({
  ...{ eventId, name: 'installment_settled', applicationId: 'app-1', code: 'OP-1', group: 'webhooks' },
  ...{ reason: `comes after sequence 9`, topic: 'receivables.events', partition: 4, offset: sequence },
  ...{ putAsideAt: '2026-01-15T12:00:00.000Z', event: { sequence } as PublicEvent, handled: false },
  ...changes,
});

const run = async (letters: readonly LateEvent[], ...args: readonly string[]) => {
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
    const { lines } = await run(letters, 'list', '-o', 'json');
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
    const one = await run(letters, 'send', 'b');
    expect([one.code, one.sent, one.lines]).toEqual([
      0,
      ['b'],
      [{ event_id: 'b', outcome: 'queued', webhook_ids: ['w'] }],
    ]);
    expect(one.err).toContain('out of order');
    expect((await run(letters, 'send', '--code', 'OP-1')).sent).toEqual(['a', 'b']);
  });

  test('send ends with 3 for what was never put aside, and with 2 where it is not clear what is meant', async () => {
    const letters = [late('a', 3), late('b', 4, { applicationId: 'app-2' })];
    expect((await run(letters, 'send', 'x')).code).toBe(3);
    expect((await run(letters, 'send')).code).toBe(2);
    expect((await run(letters, 'send', 'a', '--code', 'OP-1')).code).toBe(2);
    const { code, sent } = await run(letters, 'send', '--code', 'OP-1');
    expect([code, sent]).toEqual([2, []]);
  });
});
