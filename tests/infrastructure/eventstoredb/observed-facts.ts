import { randomUUID } from 'node:crypto';
import type { EventData, Position } from '@eventstore/db-client';
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { failureOf, newPrefix } from '../../contracts/event-store-samples.ts';

const MEBIBYTE = 1_048_576;

const event = (type = 'sample'): EventData => jsonEvent({ id: randomUUID(), type, data: { a: 1 } });

const bytes = (data: number, metadata = 0): EventData =>
  binaryEvent({
    id: randomUUID(),
    type: 'bytes',
    data: new Uint8Array(data),
    metadata: new Uint8Array(metadata),
  });

/** `taken`, or the name of the error. */
const outcomeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await failureOf(work.then(() => undefined));
  return error === undefined ? 'taken' : (error as Error).constructor.name;
};

const read = async (client: EventStoreDBClient, stream: string, maxCount = 10): Promise<number> => {
  let count = 0;
  const reading = client.readStream(stream, { maxCount });
  for await (const { event: stored } of reading) if (stored) count++;
  return count;
};

/** The first things that a subscription says. */
const subscribed = (client: EventStoreDBClient, fromPosition: Position): Promise<string> =>
  new Promise((resolve) => {
    const subscription = client.subscribeToAll({ fromPosition });
    const told = (what: string): void => {
      subscription.unsubscribe().catch(() => undefined);
      resolve(what);
    };
    subscription
      .on('error', (error: Error) => told(error.constructor.name))
      .on('caughtUp', () => told('caught up'))
      .on('data', () => undefined);
  });

/** What EventStoreDB 23.10 was seen to answer, in a few words each. */
export const OBSERVED: Readonly<Record<string, string | number>> = {
  'an append of 1 MiB of data': 'taken',
  'an append of 1 MiB and a byte of data': 'MaxAppendSizeExceededError',
  'an append of 1 byte of data and more than 1 MiB of metadata': 'taken',
  'an append to a stream without a name': 'UnknownError',
  'an append of a type without a name': 'UnknownError',
  'a read of no event': 'UnknownError',
  'a read of a deleted stream': 'StreamNotFoundError',
  'a first append to a deleted stream': 'taken',
  'a read of what was appended after a deletion': 1,
  'an append to a tombstoned stream': 'StreamDeletedError',
  'a read of a tombstoned stream': 'StreamDeletedError',
  'a read of two events that the stream is limited to': 2,
  'a subscription from the middle of a record': 'UnknownError',
  'a subscription from beyond the end': 'caught up',
};

/** Asks a server at that address for all of them. */
export const observe = async (url: string): Promise<Readonly<Record<string, string | number>>> => {
  const client = EventStoreDBClient.connectionString(url);
  // Appends by calls of their own: what the batch call answers after its deadline throws outside of every promise.
  Object.assign(client, { supports: () => Promise.resolve(false) });
  const prefix = newPrefix();
  const append = (stream: string, events: EventData | EventData[], expectedRevision = 'no_stream' as const) =>
    outcomeOf(client.appendToStream(stream && prefix + stream, events, { expectedRevision }));
  await append('deleted', event());
  await append('tombstoned', event());
  await append('limited', [event(), event(), event()]);
  await client.deleteStream(`${prefix}deleted`);
  await client.tombstoneStream(`${prefix}tombstoned`);
  await client.setStreamMetadata(`${prefix}limited`, { maxCount: 2 });
  const { position } = await client.appendToStream(`${prefix}place`, event());
  const place = position!.commit;
  const answers = {
    'an append of 1 MiB of data': await append('A', bytes(MEBIBYTE)),
    'an append of 1 MiB and a byte of data': await append('B', bytes(MEBIBYTE + 1)),
    'an append of 1 byte of data and more than 1 MiB of metadata': await append('C', bytes(1, MEBIBYTE + 1)),
    'an append to a stream without a name': await append('', event()),
    'an append of a type without a name': await append('D', event('')),
    'a read of no event': await outcomeOf(read(client, `${prefix}place`, 0)),
    'a read of a deleted stream': await outcomeOf(read(client, `${prefix}deleted`)),
    'a first append to a deleted stream': await append('deleted', event()),
    'a read of what was appended after a deletion': await read(client, `${prefix}deleted`),
    'an append to a tombstoned stream': await append('tombstoned', event()),
    'a read of a tombstoned stream': await outcomeOf(read(client, `${prefix}tombstoned`)),
    'a read of two events that the stream is limited to': await read(client, `${prefix}limited`),
    'a subscription from the middle of a record': await subscribed(client, {
      commit: place + 1n,
      prepare: place + 1n,
    }),
    'a subscription from beyond the end': await subscribed(client, {
      commit: 10n ** 12n,
      prepare: 10n ** 12n,
    }),
  };
  await client.dispose();
  return answers;
};
