import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Consumer } from 'kafkajs';
import { watchSession } from '../../../infrastructure/kafka/group-session.ts';

const EVENTS = {
  CRASH: 'crash',
  GROUP_JOIN: 'join',
  FETCH: 'fetch',
  HEARTBEAT: 'heartbeat',
  REQUEST_TIMEOUT: 'timeout',
};

let emitter: EventEmitter;
let closing: AbortController;
let watch: ReturnType<typeof watchSession>;
const unanswered = { apiName: 'Fetch', broker: 'b:1' };
const tell = (event: string, payload: object = {}): boolean => emitter.emit(event, { payload });

beforeEach(() => {
  emitter = new EventEmitter();
  closing = new AbortController();
  const consumer = Object.assign(emitter, { events: EVENTS }) as unknown as Consumer;
  watch = watchSession(consumer, closing.signal, 60_000);
});
afterEach(() => watch.stop());

test('a member whose broker does not answer begins a new session', async () => {
  tell(EVENTS.GROUP_JOIN);
  tell(EVENTS.REQUEST_TIMEOUT, unanswered);
  await expect(watch.over).rejects.toThrow('b:1 did not answer Fetch');
});

test('on its way into the group the library finds another broker by itself', async () => {
  tell(EVENTS.REQUEST_TIMEOUT, unanswered);
  tell(EVENTS.GROUP_JOIN);
  closing.abort();
  await expect(watch.over).resolves.toBeUndefined();
});

test('a crash ends it with what it crashed of', async () => {
  tell(EVENTS.CRASH, { error: new Error('gone') });
  await expect(watch.over).rejects.toThrow('gone');
});
