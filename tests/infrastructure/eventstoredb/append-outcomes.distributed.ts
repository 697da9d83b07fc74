import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { BusyError } from '../../../application/ports/busy-error.ts';
import {
  ConcurrencyError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import type { JsonText } from '../../../application/ports/event-store.ts';
import { retryAppend, retryUntilAvailable } from '../../../application/support/retry.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import {
  failureOf,
  idsOf,
  newClaim,
  newPrefix,
  sampleEvent,
  sampleEvents,
} from '../../contracts/event-store-samples.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { TcpGate } from '../../support/eventstoredb/tcp-gate.ts';
import { failure } from '../../support/eventstoredb/wire.ts';
import { until } from '../../support/within.ts';

/** A busy machine may need longer for a connection than the time-outs of these stores. */
const appended = (store: EventStoreDbStore, ...append: Parameters<EventStoreDbStore['append']>) =>
  retryUntilAvailable(() => store.append(...append), delay);

describe('an append whose answer does not come', () => {
  test('is found where it was stored, and answered', async () => {
    await using at = await openAtStandIn({ appendTimeoutMs: 300, patienceMs: 20_000 });
    const { server, store } = at;
    const [stream, events] = [`${newPrefix()}A`, sampleEvents(3)];
    server.faults.appends = 'unanswered';
    expect(await store.append(stream, 'no_stream', events)).toMatchObject({ revision: 2n });
    expect(idsOf((await store.read(stream)).events)).toEqual(idsOf(events));
  });

  test('that was lost on the way is stored by the retry, once', async () => {
    await using at = await openAtStandIn({ appendTimeoutMs: 100, patienceMs: 150 });
    const { server, store } = at;
    const [stream, events] = [`${newPrefix()}A`, sampleEvents(2)];
    server.faults.appends = 'lost';
    const pause = async (): Promise<void> => void (server.faults.appends = 'answered');
    expect(await retryAppend(() => store.append(stream, 'no_stream', events), pause)).toMatchObject({
      revision: 1n,
    });
    expect(server.log.stream(stream)).toHaveLength(2);
  });

  test("that comes late does not turn into somebody else's, nor end the process", async () => {
    await using at = await openAtStandIn({ appendTimeoutMs: 50, patienceMs: 100 });
    const { server, store } = at;
    const prefix = newPrefix();
    server.faults.appendDelayMs = 150;
    const late = Array.from({ length: 8 }, (_, n) =>
      failureOf(store.append(`${prefix}${n}`, 'no_stream', sampleEvents(1))),
    );
    await Promise.all(late);
    server.faults.appendDelayMs = 0;
    await delay(150);
    const events = sampleEvents(1);
    expect(await appended(store, `${prefix}other`, 'no_stream', events)).toMatchObject({ revision: 0n });
  });
});

describe('a failure of an append', () => {
  test.each([
    ['a cancelled call', status.CANCELLED, {}],
    ['an unavailable server', status.UNAVAILABLE, {}],
    ['a server time-out', status.ABORTED, {}],
    ['an internal error', status.INTERNAL, {}],
    ['an unknown error', status.UNKNOWN, {}],
  ])('that says %s proves nothing: it is looked for, and found', async (_, code, trailers) => {
    await using at = await openAtStandIn();
    at.server.faults.appendFailure = failure(code, 'injected', trailers);
    at.server.faults.appends = 'answer_failing';
    const stream = `${newPrefix()}A`;
    expect(await at.store.append(stream, 'no_stream', sampleEvents(1))).toMatchObject({ revision: 0n });
    expect(at.server.log.stream(stream)).toHaveLength(1);
  });

  test('that says access denied is certain: nothing was stored', async () => {
    await using at = await openAtStandIn();
    at.server.faults.appendFailure = failure(status.PERMISSION_DENIED, 'Access Denied', {
      exception: 'access-denied',
    });
    at.server.faults.appends = 'refused';
    const error = await failureOf(at.store.append(`${newPrefix()}A`, 'no_stream', sampleEvents(1)));
    expect(error).toBeInstanceOf(StoreUnavailableError);
  });

  test('that is a conflict is one, also where there is no stream at all', async () => {
    await using at = await openAtStandIn();
    const stream = `${newPrefix()}A`;
    const error = await failureOf(at.store.append(stream, 4n, sampleEvents(1)));
    expect(error).toBeInstanceOf(ConcurrencyError);
    expect(error).toMatchObject({ stream, expected: 4n, actual: 'no_stream' });
  });

  test('that claims a conflict with our own events is taken for what it is', async () => {
    await using at = await openAtStandIn();
    const [stream, events] = [`${newPrefix()}A`, sampleEvents(2)];
    at.server.faults.appendFailure = failure(status.FAILED_PRECONDITION, 'injected', {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': '-1',
      'actual-version': '1',
    });
    at.server.faults.appends = 'answer_failing';
    expect(await at.store.append(stream, 'no_stream', events)).toMatchObject({ revision: 1n });
  });
});

describe('a server that is away', () => {
  test('certainly stored nothing when the connection was refused, and is found again when it is back', async () => {
    const first = await EventStoreDbStandIn.start();
    const store = new EventStoreDbStore({ url: first.url, patienceMs: 100, readTimeoutMs: 100 });
    const stream = `${newPrefix()}A`;
    await appended(store, stream, 'no_stream', sampleEvents(1));
    await first.kill();
    const events = sampleEvents(1);
    let away: unknown;
    for (let n = 0; n < 3; n++) away = await failureOf(store.append(stream, 0n, events));
    const reading = await failureOf(store.read(stream));
    const second = await EventStoreDbStandIn.start({ port: first.port, log: first.log });
    const result = await appended(store, stream, 0n, events);
    await store.close();
    await second.kill();
    expect(reading).toBeInstanceOf(StoreUnavailableError);
    expect([StoreUnavailableError, OutcomeUnknownError]).toContain((away as Error).constructor);
    expect(result.revision).toBe(1n);
  });

  test('does not make an append certain that had been sent before', async () => {
    const server = await EventStoreDbStandIn.start();
    const options = { url: server.url, appendTimeoutMs: 100, patienceMs: 150, readTimeoutMs: 100 };
    const store = new EventStoreDbStore(options);
    const [stream, events] = [`${newPrefix()}A`, sampleEvents(1)];
    await appended(store, `${stream}0`, 'no_stream', sampleEvents(1));
    server.faults.appends = 'lost';
    server.faults.reads = 'unanswered';
    await failureOf(store.append(stream, 'no_stream', events));
    await server.kill();
    const again = await failureOf(store.append(stream, 'no_stream', events));
    const other = await failureOf(store.append(`${stream}B`, 'no_stream', sampleEvents(1)));
    await store.close();
    expect(again).toBeInstanceOf(OutcomeUnknownError);
    expect(other).toBeInstanceOf(StoreUnavailableError);
  });

  test('that was about to stop when it took an append leaves it uncertain', async () => {
    await using at = await openAtStandIn({
      appendTimeoutMs: 2_000,
      patienceMs: 2_500,
      readTimeoutMs: 500,
    });
    const { server, store } = at;
    const stream = `${newPrefix()}A`;
    await appended(store, stream, 'no_stream', sampleEvents(1));
    server.faults.appends = 'unanswered';
    const asked = failureOf(store.append(stream, 0n, sampleEvents(1)));
    await until(() => server.log.stream(stream).length === 2, 'the append that is not answered');
    server.beginStop();
    expect(await asked).toBeInstanceOf(OutcomeUnknownError);
  });

  test('behind a black hole, appends and reads end in time and work again after it', async () => {
    const server = await EventStoreDbStandIn.start();
    const gate = await TcpGate.before(server.port);
    const store = new EventStoreDbStore({
      url: gate.url,
      appendTimeoutMs: 500,
      patienceMs: 1_000,
      readTimeoutMs: 500,
    });
    const [stream, events] = [`${newPrefix()}A`, sampleEvents(1)];
    await appended(store, stream, 'no_stream', sampleEvents(1));
    gate.swallow();
    const started = Date.now();
    const outcomes = await Promise.all([
      failureOf(store.append(stream, 0n, events)),
      failureOf(store.read(stream)),
    ]);
    const took = Date.now() - started;
    gate.restore();
    const result = await appended(store, stream, 0n, events);
    await store.close();
    await gate.close();
    await server.kill();
    expect(outcomes[0]).toBeInstanceOf(OutcomeUnknownError);
    expect(outcomes[1]).toBeInstanceOf(StoreUnavailableError);
    expect(took).toBeLessThan(20_000);
    expect(result.revision).toBe(1n);
  });
});

describe('what clients do on their own', () => {
  test('is not asked for: no features, and one call for all appends', async () => {
    await using at = await openAtStandIn();
    at.server.faults.features = 'failing';
    await at.store.append(`${newPrefix()}A`, 'no_stream', sampleEvents(2));
    at.server.faults.features = 'unanswered';
    await at.store.append(`${newPrefix()}A`, 'no_stream', sampleEvents(2), newClaim());
    const { faults } = at.server;
    expect([faults.count('GetSupportedMethods'), faults.count('Append')]).toEqual([0, 0]);
    expect([faults.count('BatchAppend'), faults.batched]).toEqual([1, 3]);
  });

  test('a connection lost under one store leaves the appends of another alone', async () => {
    await using healthy = await openAtStandIn();
    await using dying = await openAtStandIn({ patienceMs: 3_000, readTimeoutMs: 1_000 });
    healthy.server.faults.appendDelayMs = 200;
    const slow = healthy.store.append(`${newPrefix()}A`, 'no_stream', sampleEvents(1));
    dying.server.faults.appendDelayMs = 20_000;
    const doomed = failureOf(dying.store.append(`${newPrefix()}A`, 'no_stream', sampleEvents(1)));
    await until(() => dying.server.faults.batched === 1, 'the append that is to be lost');
    await dying.server.kill();
    expect(await doomed).toBeInstanceOf(OutcomeUnknownError);
    expect(await slow).toMatchObject({ revision: 0n });
  });

  test('appends, reads and subscriptions have a connection each', async () => {
    await using at = await openAtStandIn();
    const controller = new AbortController();
    const messages = at.store.subscribe({ from: 'start', signal: controller.signal });
    await at.store.append(`${newPrefix()}A`, 'no_stream', sampleEvents(1));
    await at.store.read(`${newPrefix()}A`);
    await messages.next();
    controller.abort();
    expect(new Set(at.server.faults.calls.map(({ peer }) => peer)).size).toBe(3);
  });

  test('an option that makes it answer wrong revisions is refused', async () => {
    const url = 'esdb://127.0.0.1:1?tls=false&throwOnAppendFailure=false';
    expect(await failureOf((async () => new EventStoreDbStore({ url }))())).toMatchObject({
      message: expect.stringContaining('throwOnAppendFailure'),
    });
  });

  test('a connection string that is none is refused without repeating it', async () => {
    const url = 'esdb://admin:secret@';
    const error = await failureOf((async () => new EventStoreDbStore({ url }))());
    expect(String(error)).not.toContain('secret');
    expect(String(error)).toContain('connection string');
  });
});

describe('the limits of an append', () => {
  const sized = (bytes: number) => ({
    ...sampleEvent(),
    data: JSON.stringify({ x: 'y'.repeat(bytes) }) as JsonText,
  });

  test('more bytes than the server takes are refused before anything is sent', async () => {
    await using at = await openAtStandIn();
    const error = await failureOf(at.store.append(`${newPrefix()}A`, 'no_stream', [sized(1_048_300)]));
    expect(error).toBeInstanceOf(RangeError);
    expect(at.server.faults.calls).toEqual([]);
  });

  test('what passes here passes there', async () => {
    await using at = await openAtStandIn();
    const stream = `${newPrefix()}A`;
    await at.store.append(stream, 'no_stream', [sized(1_047_500)]);
    expect((await at.store.read(stream)).events[0]?.data).toHaveLength(1_047_508);
  });

  test('more appends than may wait are refused as busy, and taken again later', async () => {
    await using at = await openAtStandIn({ maxPendingAppends: 2 });
    const prefix = newPrefix();
    at.server.faults.appendDelayMs = 50;
    const waiting = [0, 1].map((n) => at.store.append(`${prefix}${n}`, 'no_stream', sampleEvents(1)));
    const third = () => at.store.append(`${prefix}2`, 'no_stream', sampleEvents(1));
    expect(await failureOf(third())).toBeInstanceOf(BusyError);
    await Promise.all(waiting);
    expect(await third()).toMatchObject({ revision: 0n });
  });
});
