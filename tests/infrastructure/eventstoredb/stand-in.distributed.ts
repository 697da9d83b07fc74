import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { describe, expect, test } from '@jest/globals';
import { retryAppend } from '../../../application/support/retry.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { catchUp, failureOf, idsOf, newPrefix, sampleEvents } from '../../contracts/event-store-samples.ts';
import { StandInProcess } from '../../support/eventstoredb/stand-in-process.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const clientEvents = (count: number) =>
  Array.from({ length: count }, () => jsonEvent({ id: randomUUID(), type: 'sample', data: { a: 1 } }));

describe('the stand-in answers the client as EventStoreDB does', () => {
  test('on both of its ways to append, the one over a shared call included', async () => {
    const server = await EventStoreDbStandIn.start();
    const client = EventStoreDBClient.connectionString(server.url);
    const stream = `${newPrefix()}A`;
    const [first, second] = clientEvents(2);
    const options = { expectedRevision: 'no_stream' } as const;
    expect(await client.appendToStream(stream, first!, options)).toMatchObject({
      success: true,
      nextExpectedRevision: 0n,
    });
    expect(await client.appendToStream(stream, first!, options)).toMatchObject({ nextExpectedRevision: 0n });
    const refused = await failureOf(client.appendToStream(stream, second!, options));
    expect(refused).toMatchObject({ type: 'wrong-expected-version', actualVersion: 0n, message: '' });
    expect(server.faults.count('BatchAppend')).toBe(1);
    await client.dispose();
    await server.kill();
  });

  test('an append without a revision is known again by its ids, a part of it is refused', async () => {
    const server = await EventStoreDbStandIn.start();
    const client = EventStoreDBClient.connectionString(server.url);
    const stream = `${newPrefix()}A`;
    const [first, second, third] = clientEvents(3);
    await client.appendToStream(stream, [first!, second!], { expectedRevision: 'any' });
    const again = await client.appendToStream(stream, [first!, second!], { expectedRevision: 'any' });
    expect(again.nextExpectedRevision).toBe(1n);
    const mixed = client.appendToStream(stream, [first!, third!], { expectedRevision: 'any' });
    expect(await failureOf(mixed)).toMatchObject({ type: 'wrong-expected-version' });
    // At the head's own revision the same ids are appended again: they are compared below the head only.
    const newer = await client.appendToStream(stream, [first!, second!], { expectedRevision: 1n });
    expect(newer.nextExpectedRevision).toBe(3n);
    await client.dispose();
    await server.kill();
  });
});

describe('the stand-in as a process of its own', () => {
  test('loses nothing that it has acknowledged when it is killed, and half a line is no append', async () => {
    const directory = temporaryDirectory();
    const server = await StandInProcess.start(directory);
    const store = new EventStoreDbStore({
      url: server.url,
      appendTimeoutMs: 2_000,
      patienceMs: 3_000,
    });
    const prefix = newPrefix();
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const writing = Array.from({ length: 20 }, async (_, n) => {
        const events = sampleEvents(2);
        await store.append(`${prefix}${round}-${n}`, 'no_stream', events);
        acknowledged.push(...idsOf(events));
      });
      await Promise.any(writing);
      await server.kill();
      await Promise.allSettled(writing);
      await appendFile(join(directory, 'log.jsonl'), '{"stream":"half a li');
      await server.restart();
    }
    const events = sampleEvents(1);
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    await retryAppend(() => store.append(`${prefix}last`, 'no_stream', events), pause);
    const stored = await catchUp(store, prefix, 60_000);
    expect(idsOf(stored)).toEqual(expect.arrayContaining([...acknowledged, ...idsOf(events)]));
    expect(acknowledged.length).toBeGreaterThan(0);
    await store.close();
    await server.kill();
  });
});
