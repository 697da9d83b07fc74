import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { Connection, Node } from '../../../infrastructure/eventstoredb/connection.ts';
import { StreamReader } from '../../../infrastructure/eventstoredb/stream-reader.ts';

const AT_ONCE = 100;
const TIME_MS = 40;

/** A node that answers when the test says so, and a call without any time for an answer at once: its time is up. */
const patient = () => {
  const calls: EventEmitter[] = [];
  const left: Node[] = [];
  const asked = new EventEmitter();
  const node = {
    left: new AbortController().signal,
    whenLeft: () => () => undefined,
    read: (_purpose: string, _request: Buffer, { deadline }: { readonly deadline: number }) => {
      const call = new EventEmitter();
      const late = Object.assign(new Error('4 DEADLINE_EXCEEDED'), { code: status.DEADLINE_EXCEEDED });
      if (deadline <= Date.now()) setImmediate(() => call.emit('error', late));
      calls.push(call);
      asked.emit('call');
      return call;
    },
  } as unknown as Node;
  const connection = {
    node: async () => node,
    leave: (one: Node) => left.push(one),
  } as unknown as Connection;
  return { calls, left, asked, connection };
};

test('a read whose time went by before its turn came says nothing of the node: others go on there', async () => {
  const { calls, left, asked, connection } = patient();
  const reader = new StreamReader(connection, TIME_MS);
  const before = Array.from({ length: AT_ONCE }, (_, i) => reader.head(`loan-a.${i}`));
  while (calls.length < AT_ONCE) await once(asked, 'call');
  const last = reader.head('loan-a.last').catch((error: unknown) => error);
  const enough = performance.now() + TIME_MS;
  while (performance.now() <= enough) await setTimeout(5);
  for (const call of calls.slice(0, AT_ONCE)) call.emit('end');
  expect(await last).toBeInstanceOf(StoreUnavailableError);
  expect(await Promise.all(before)).toEqual(before.map(() => 'no_stream'));
  expect(left).toEqual([]);
});
