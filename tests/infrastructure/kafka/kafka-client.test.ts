import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { FirstBrokers, quietIdleConnections } from '../../../infrastructure/kafka/kafka-client.ts';

interface Pushed {
  readonly entry: { readonly correlationId: number; resolve(): void; reject(): void };
  readonly expectResponse: boolean;
  sendRequest(): void;
}
interface RequestQueue {
  push(request: Pushed): void;
  fulfillRequest(response: {
    readonly correlationId: number;
    readonly payload: null;
    readonly size: number;
  }): void;
  maybeThrottle(ms: number): void;
  checkPendingRequests(): void;
  destroy(): void;
}

const require = createRequire(import.meta.url);
const RequestQueueOf = require('kafkajs/src/network/requestQueue/index.js') as new (
  options: object,
) => RequestQueue;

let sent: number[];
let queue: RequestQueue;
const request = (correlationId: number): Pushed => ({
  entry: { correlationId, resolve: () => undefined, reject: () => undefined },
  expectResponse: true,
  sendRequest: () => void sent.push(correlationId),
});

beforeEach(() => {
  jest.useFakeTimers();
  quietIdleConnections();
  sent = [];
  queue = new RequestQueueOf({
    maxInFlightRequests: 1,
    requestTimeout: 1_000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'localhost:9092',
    logger: { debug: () => undefined, warn: () => undefined },
  });
});

afterEach(() => {
  queue.destroy();
  jest.useRealTimers();
});

test('nothing ticks while nothing waits', () => {
  queue.checkPendingRequests();
  queue.push(request(1));
  queue.fulfillRequest({ correlationId: 1, payload: null, size: 0 });
  expect(sent).toEqual([1]);
  expect(jest.getTimerCount()).toBe(0);
});

test('what waits for an answer is sent after it', () => {
  queue.push(request(1));
  queue.push(request(2));
  expect(sent).toEqual([1]);
  queue.fulfillRequest({ correlationId: 1, payload: null, size: 0 });
  expect(sent).toEqual([1, 2]);
});

test('what the broker asked to hold back is sent when its time is over', () => {
  queue.maybeThrottle(300);
  queue.push(request(1));
  expect(sent).toEqual([]);
  jest.advanceTimersByTime(299);
  expect(sent).toEqual([]);
  jest.advanceTimersByTime(20);
  expect(sent).toEqual([1]);
  expect(jest.getTimerCount()).toBe(0);
});

describe('a new client begins', () => {
  const begun = (first: FirstBrokers, times: number) => Array.from({ length: times }, () => first.next());

  test('at one broker after the other while none has answered', () => {
    expect(begun(new FirstBrokers(['a:1', 'b:1', 'c:1']), 4)).toEqual(['a:1', 'b:1', 'c:1', 'a:1']);
  });

  test('at the one that answered last; one that was begun at and gave no answer comes last', () => {
    const first = new FirstBrokers(['a:1', 'b:1', 'c:1']);
    const answering = (): string => {
      const address = first.next();
      first.answered(address);
      return address;
    };
    expect([answering(), answering(), answering()]).toEqual(['a:1', 'a:1', 'a:1']);
    // It is frozen now.
    expect(first.next()).toBe('a:1');
    expect([answering(), answering(), answering()]).toEqual(['b:1', 'b:1', 'b:1']);
    // So are both, and some client hears of the third.
    first.answered('c:1');
    expect(begun(first, 3)).toEqual(['c:1', 'b:1', 'a:1']);
  });

  test('at none but those that were given', () => {
    const first = new FirstBrokers(['given:1']);
    first.answered('told:1');
    expect(begun(first, 2)).toEqual(['given:1', 'given:1']);
  });
});
