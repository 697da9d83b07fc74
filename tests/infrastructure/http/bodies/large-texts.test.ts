import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { TEXT_BOUNDS } from '../../../../infrastructure/http/middleware/body-reader.ts';
import { client, tokenFor } from '../../../support/http-fakes.ts';
import { validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import type { HttpAnswer } from '../../../support/http-world.ts';

const PATH = '/installment/settle/batch';
const SIZE = 40_000;

let world: HttpWorld;
let slow: Socket[] = [];
const start = async (waitMs: number): Promise<void> => {
  const application = { places: 2, weight: 2 * SIZE };
  world = await HttpWorld.start({ texts: { ...TEXT_BOUNDS, application, waitMs } });
  world.clients.add(client({ clientId: 'client-b', applicationId: 'app-b' }));
};
afterEach(async () => {
  for (const socket of slow) socket.destroy();
  slow = [];
  await world.stop();
});

/** Says what it will send, and resolves when the service is ready for it: it is being received from then on. */
const begin = async (): Promise<Socket> => {
  const socket = connect(world.port, '127.0.0.1');
  slow.push(socket);
  const head = [
    ...[`POST ${PATH} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${tokenFor('client-a')}`],
    ...['Content-Type: application/json', `Content-Length: ${SIZE}`, 'Expect: 100-continue', '', ''],
  ];
  socket.write(head.join('\r\n'));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toContain('100 Continue');
  return socket;
};
const padded = (length: number): string => {
  const text = JSON.stringify({ settlements: [validSettlement()] });
  return text + ' '.repeat(length - text.length);
};
const send = (length: number, who = 'client-a'): Promise<HttpAnswer> =>
  world.call('POST', PATH, {
    body: padded(length),
    headers: { 'content-type': 'application/json' },
    auth: tokenFor(who),
  });

describe('large texts of an application that are being received', () => {
  test('are so many bytes; what is above gets 429, and others notice nothing', async () => {
    await start(10);
    await begin();
    await begin();
    const before = Number((await send(1_000)).headers.get('x-ratelimit-remaining'));
    const { status, headers, body } = await send(SIZE);
    expect(headers.get('x-ratelimit-remaining')).toBe(String(before));
    expect([status, body.error_code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '5']);
    expect(body.message).toContain('large bodies');
    expect((await send(1_000)).status).toBe(200);
    expect((await send(SIZE, 'client-b')).status).toBe(200);
  });

  test('make room when they have come, and when their connection breaks', async () => {
    await start(10_000);
    const [first, second] = [await begin(), await begin()];
    first.write(padded(SIZE));
    expect(String((await once(first, 'data'))[0])).toContain('HTTP/1.1 200');
    expect((await send(SIZE)).status).toBe(200);
    await begin();
    second.destroy();
    expect((await send(SIZE)).status).toBe(200);
  });
});
