import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readBody } from '../../../../infrastructure/http/bodies/read-body.ts';
import { HttpProblem } from '../../../../infrastructure/http/errors/http-problem.ts';
import { RequestState } from '../../../../infrastructure/http/middleware/request-state.ts';
import { Responder } from '../../../../infrastructure/http/middleware/responder.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';

let world: HttpWorld;
beforeAll(async () => {
  world = await HttpWorld.start();
});
afterAll(() => world.stop());

/** Node's own streams of a request cannot be made without a connection. */
const inCrumbs = (count: number, isWhole = true): IncomingMessage => {
  const body = Object.assign(new Readable({ read: () => undefined }), {
    headers: { 'transfer-encoding': 'chunked' },
    complete: false,
  });
  for (let i = 0; i < count; i += 1) body.push(' ');
  if (isWhole) body.push(null);
  return body as unknown as IncomingMessage;
};

describe('a body in pieces of a byte', () => {
  test('lets others have their turn', async () => {
    let [turns, isOver] = [0, false];
    const read = readBody(inCrumbs(10_000), 10_000).finally(() => (isOver = true));
    while (!isOver) {
      await turn();
      turns += 1;
    }
    expect((await read).length).toBe(10_000);
    expect(turns).toBeGreaterThan(30);
  });

  test('is not read on for long once it is refused', async () => {
    let ended = false;
    const res = { writeHead: () => res, write: () => true, end: () => (ended = true) };
    const state = new RequestState(inCrumbs(30_000, false), res as never, 0);
    new Responder('1', false).refuse(state, new HttpProblem('missing_token', 'no token'));
    for (let turns = 0; turns < 200 && !ended; turns += 1) await turn();
    expect(ended).toBe(true);
    state.req.destroy();
  });

  const send = async (path: string, type: string, body: string): Promise<string> => {
    const socket = connect(world.port, '127.0.0.1').on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenFor('client-a')}\r\nContent-Type: ${type}\r\n`;
    const crumbs = [...body].map((byte) => `1\r\n${byte}\r\n`).join('');
    socket.write(`${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${crumbs}0\r\n\r\n`);
    await once(socket, 'close');
    return text;
  };
  const settle = (length: number) =>
    send('/installment/settle/batch', 'application/json', '{"settlements":[{}]}'.padEnd(length));
  const assign = (length: number) => {
    const begin = '--b\r\nContent-Disposition: form-data; name="loan_data"\r\n\r\n';
    return send('/loan', 'multipart/form-data; boundary=b', `${begin}${'{}'.padEnd(length)}\r\n--b--\r\n`);
  };

  test('is taken up to 20,000 of them', async () => {
    expect(await settle(20_000)).toMatch(/^HTTP\/1.1 200 /);
    expect(await assign(19_900)).toMatch(/^HTTP\/1.1 400 [^]*"validation_error"/);
  });

  test.each([
    ['JSON', settle],
    ['a form', assign],
  ])('and refused beyond that as %s', async (_what, sent) => {
    expect(await sent(21_000)).toMatch(/^HTTP\/1.1 400 [^]*send chunks of at least 64 bytes/);
  });
});
