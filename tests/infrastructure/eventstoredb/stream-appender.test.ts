import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import type { Connection, Node } from '../../../infrastructure/eventstoredb/connection.ts';
import { StreamAppender } from '../../../infrastructure/eventstoredb/stream-appender.ts';
import type { StreamReader } from '../../../infrastructure/eventstoredb/stream-reader.ts';
import { sampleEvent } from '../../contracts/event-store-samples.ts';

const TIMEOUT_MS = 300;

/** How often a node is left that takes an append and answers nothing, where so much time is left for all tries. */
const leftAfter = async (patienceMs: number): Promise<number> => {
  let left = 0;
  const node = {
    left: new AbortController().signal,
    appends: () => Object.assign(new EventEmitter(), { write: () => true, cancel: () => undefined }),
    whenConnected: (_purpose: string, tell: () => void) => tell(),
  } as unknown as Node;
  const connection = { node: async () => node, leave: () => (left += 1) } as unknown as Connection;
  const reader = { some: async () => [] } as unknown as StreamReader;
  const appender = new StreamAppender({ connection, reader, timeoutMs: TIMEOUT_MS, patienceMs });
  await expect(appender.append('loan-a.1', 'no_stream', [sampleEvent()])).rejects.toThrow(
    OutcomeUnknownError,
  );
  return left;
};

test('a node that is silent for the time of an answer is left; one that had only the end of it is not', async () => {
  expect(await Promise.all([leftAfter(TIMEOUT_MS / 10), leftAfter(TIMEOUT_MS)])).toEqual([0, 1]);
});
