import { describe, expect, test } from '@jest/globals';
import { Endpoint } from '../../../../infrastructure/webhooks/dispatch/endpoints.ts';
import { SlotLimiter } from '../../../../infrastructure/webhooks/dispatch/slot-limiter.ts';

const endpoint = (webhookId: string): Endpoint =>
  new Endpoint(webhookId, { failures: 2, firstPauseMs: 100, longestPauseMs: 100 });
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Takes a turn and notes its name once it has it. */
const queueUp = (turns: SlotLimiter, at: Endpoint, name: string, started: string[]): void =>
  void turns.take(at).then(() => started.push(name));

describe('turns to send', () => {
  test('are given at once while there is room, then in the order in which they were asked for', async () => {
    const turns = new SlotLimiter({ slots: 10, slotsPerEndpoint: 2 });
    const one = endpoint('one');
    const started: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) queueUp(turns, one, name, started);
    await settle();
    expect([started, one.sending]).toEqual([['a', 'b'], 2]);
    turns.free(one);
    turns.free(one);
    await settle();
    expect([started, one.sending]).toEqual([['a', 'b', 'c', 'd'], 2]);
  });

  test('of an endpoint that is full keep nobody else waiting', async () => {
    const turns = new SlotLimiter({ slots: 3, slotsPerEndpoint: 1 });
    const [full, other] = [endpoint('full'), endpoint('other')];
    const started: string[] = [];
    for (const name of ['a', 'b']) queueUp(turns, full, name, started);
    queueUp(turns, other, 'c', started);
    await settle();
    expect(started).toEqual(['a', 'c']);
  });

  test('of an endpoint that is slow never fill all places, until it is quick again', async () => {
    const turns = new SlotLimiter({ slots: 4, slotsPerEndpoint: 4 });
    const [slow, quick] = [endpoint('slow'), endpoint('quick')];
    slow.attempted(0, 1_000);
    const started: string[] = [];
    for (const name of ['s1', 's2', 's3', 's4']) queueUp(turns, slow, name, started);
    queueUp(turns, quick, 'q1', started);
    await settle();
    expect(started).toEqual(['s1', 's2', 's3', 'q1']);
    slow.attempted(0, 999);
    turns.free(quick);
    await settle();
    expect(started.at(-1)).toBe('s4');
  });

  test('that one endpoint gives back go to another that waits for a slot', async () => {
    const turns = new SlotLimiter({ slots: 1, slotsPerEndpoint: 1 });
    const [one, other] = [endpoint('one'), endpoint('other')];
    const started: string[] = [];
    queueUp(turns, one, 'a', started);
    queueUp(turns, other, 'b', started);
    await settle();
    expect(started).toEqual(['a']);
    turns.free(one);
    await settle();
    expect([started, one.sending, other.sending]).toEqual([['a', 'b'], 0, 1]);
  });

  test('are taken by endpoints in turn, however many lanes one of them has', async () => {
    const turns = new SlotLimiter({ slots: 2, slotsPerEndpoint: 2 });
    const [busy, other] = [endpoint('busy'), endpoint('other')];
    const started: string[] = [];
    for (const name of ['a', 'b']) queueUp(turns, busy, name, started);
    queueUp(turns, other, 'c', started);
    queueUp(turns, other, 'd', started);
    for (const name of ['e', 'f']) queueUp(turns, busy, name, started);
    await settle();
    for (const at of [busy, busy, other]) {
      turns.free(at);
      await settle();
    }
    expect(started).toEqual(['a', 'b', 'c', 'e', 'd']);
    expect([busy.sending, other.sending]).toEqual([1, 1]);
  });

  test('do not go round and round among the lanes of one endpoint while another waits', async () => {
    const turns = new SlotLimiter({ slots: 1, slotsPerEndpoint: 1 });
    const [busy, other] = [endpoint('busy'), endpoint('other')];
    const started: string[] = [];
    for (const name of ['a', 'b']) queueUp(turns, busy, name, started);
    await settle();
    queueUp(turns, other, 'c', started);
    for (const name of ['a again', 'b again']) {
      turns.free(busy);
      // The lane goes on with its next delivery.
      queueUp(turns, busy, name, started);
      await settle();
    }
    expect(started).toContain('c');
  });
});
