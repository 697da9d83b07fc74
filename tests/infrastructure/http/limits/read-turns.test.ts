import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../../application/ports/event-bus.ts';
import { READ_BOUNDS } from '../../../../infrastructure/http/middleware/read-turns.ts';
import { client, tokenFor } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import type { HttpAnswer } from '../../../support/http-world.ts';

let world: HttpWorld;
/** Reads that have begun and wait for the test, by application. */
let begun: { readonly application: string; readonly go: () => void }[];
let arrived: (() => void) | undefined;

const until = async (count: number): Promise<void> => {
  while (begun.length < count) await new Promise<void>((resolve) => (arrived = resolve));
};
/** Long enough for whatever is on its way to get where it can. */
const settled = async (): Promise<void> => {
  await world.call('GET', '/health/live', { auth: false });
  await world.call('GET', '/webhook', { auth: tokenFor('client-c') });
};
const held = (application: string): Promise<void> =>
  new Promise((go) => {
    begun.push({ application, go });
    arrived?.();
  });
const list = (who = 'client-a'): Promise<HttpAnswer> => world.call('GET', '/loan', { auth: tokenFor(who) });
const letGo = (from = 0): void => begun.slice(from).forEach(({ go }) => go());

const start = async (waitMs: number): Promise<HttpWorld> => {
  const started = await HttpWorld.start({ reads: { ...READ_BOUNDS, waitMs } });
  for (const id of ['b', 'c'])
    started.clients.add(client({ clientId: `client-${id}`, applicationId: `app-${id}` }));
  started.behaviour.loans.list = async ({ applicationId }) => {
    await held(applicationId);
    return { loans: [], nextCursor: null };
  };
  started.behaviour.loans.read = async ({ applicationId }) => {
    await held(applicationId);
    return undefined;
  };
  return started;
};

beforeEach(() => {
  begun = [];
});

describe('reads of an application', () => {
  beforeAll(async () => {
    world = await start(10_000);
  });
  afterAll(() => world.stop());

  test('are four lists at once; what is above waits, and another application does not', async () => {
    const lists = Array.from({ length: 6 }, () => list());
    await until(4);
    await settled();
    expect(begun).toHaveLength(4);
    const other = list('client-b');
    await until(5);
    expect(begun[4]!.application).toBe('app-b');
    begun[0]!.go();
    await until(6);
    letGo();
    await until(7);
    letGo();
    for (const answer of [...(await Promise.all(lists)), await other]) expect(answer.status).toBe(200);
  });

  test('are sixteen operations at once, or fewer beside lists', async () => {
    const reads = Array.from({ length: 20 }, () => world.call('GET', '/loan/OP-1'));
    await until(16);
    await settled();
    expect(begun).toHaveLength(16);
    letGo();
    await until(20);
    letGo(16);
    for (const { status } of await Promise.all(reads)) expect(status).toBe(404);
  });

  test('lend their place while they only wait for the read model', async () => {
    world.behaviour.loans.read = async ({ applicationId, aside }) => {
      await aside!(() => held(applicationId));
      return undefined;
    };
    const reads = Array.from({ length: 20 }, () => world.call('GET', '/loan/OP-1'));
    await until(20);
    letGo();
    for (const { status } of await Promise.all(reads)) expect(status).toBe(404);
  });

  test('that wait are forgotten when their client goes', async () => {
    const lists = Array.from({ length: 4 }, () => list());
    await until(4);
    const socket = connect(world.port, '127.0.0.1');
    socket.write(`GET /loan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenFor('client-a')}\r\n\r\n`);
    await settled();
    socket.destroy();
    await once(socket, 'close');
    await settled();
    letGo();
    for (const { status } of await Promise.all(lists)) expect(status).toBe(200);
    await settled();
    expect(begun).toHaveLength(4);
  });

  test('are written whole however long they are', async () => {
    const loans = Array.from({ length: 200 }, (_, i) => ({
      ...{
        code: `OP-${i}`,
        fund_id: 'f',
        status: 'active',
        product_type: 'financing',
        acquisition_value: 180_000,
      },
      ...{ number_of_installments: 2, date_issued: '2026-01-15', received_at: 't', updated_at: 't' },
    }));
    world.behaviour.loans.list = async () => ({ loans: loans as never, nextCursor: 'more' });
    const { status, body, headers, text } = await world.call('GET', '/loan', { described: false });
    expect([status, body.data.length, body.next_cursor]).toEqual([200, 200, 'more']);
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(text).toBe(
      JSON.stringify(body).replaceAll('"acquisition_value":1800', '"acquisition_value":1800.00'),
    );
  });
});

describe('a read that finds no place in time', () => {
  beforeAll(async () => {
    world = await start(50);
  });
  afterAll(() => world.stop());

  test('is told to come again', async () => {
    const lists = Array.from({ length: 4 }, () => list());
    await until(4);
    const { status, headers, body } = await list();
    expect([status, body.error_code, body.retryable]).toEqual([503, 'service_unavailable', true]);
    expect(headers.get('retry-after')).toBe('5');
    letGo();
    await Promise.all(lists);
    expect(READ_BOUNDS.waitMs).toBe(10_000);
  });

  test.each(['/loan', '/event'])('because answers of %s are not read', async (path) => {
    const long = 'x'.repeat(16 * 1_048_576);
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    let left = 4;
    const page = <Page>(value: Page) => {
      if (--left === 0) resolve();
      return Promise.resolve(value);
    };
    world.behaviour.loans.list = () => page({ loans: [], nextCursor: long });
    const events = [{ body: JSON.stringify(long) } as PublicEvent];
    world.behaviour.publication.feed.page = () => page({ events, nextAfter: null, hasMore: false });
    const silent = Array.from({ length: 4 }, () => {
      const socket = connect(world.port, '127.0.0.1').pause();
      const head = `Host: x\r\nAuthorization: Bearer ${tokenFor('client-a')}`;
      socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`);
      return socket;
    });
    await asked;
    await settled();
    expect((await world.call('GET', path, { described: false })).status).toBe(503);
    for (const socket of silent) socket.destroy();
  });
});
