import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, describe, expect, test } from '@jest/globals';
import { TokenBucketLimiter } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { createHttpServer } from '../../../../infrastructure/http/server/http-server.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());

const inCrumbs = (body: string): string => [...body].map((byte) => `1\r\n${byte}\r\n`).join('');

/** Everything that comes on a connection of its own until the service closes it. */
const answerTo = async (port: number, request: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.write(request);
  await once(socket, 'close');
  return text;
};

describe('a body in pieces of a byte', () => {
  test('comes to whoever reads it in few pieces, one after the other and complete', async () => {
    const pieces: Buffer[] = [];
    const app = (req: IncomingMessage, res: ServerResponse): void =>
      void req
        .on('data', (piece: Buffer) => pieces.push(piece))
        .on('end', () => res.setHeader('Connection', 'close').end('read'));
    const server = createHttpServer(app, new TokenBucketLimiter());
    const { port } = await server.listen(0, '127.0.0.1');
    const body = Array.from({ length: 30_000 }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
    // The last one is longer than what is gathered.
    const last = 'z'.repeat(5_000);
    const chunks = `${inCrumbs(body)}1388\r\n${last}\r\n0\r\n\r\n`;
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await answerTo(port, head + chunks);
    await server.close(0);
    expect(answer).toMatch(/read/);
    expect(Buffer.concat(pieces).toString()).toBe(body + last);
    expect(pieces.length).toBeLessThan(3_000);
  });

  test('is not read on for long once it is refused', async () => {
    const head =
      'POST /installment/settle HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await answerTo(world.port, head + inCrumbs(' '.repeat(40_000)))).toMatch(/^HTTP\/1.1 401 /);
  });

  const send = (path: string, type: string, body: string): Promise<string> => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenFor('client-a')}\r\nContent-Type: ${type}\r\n`;
    const end = `${inCrumbs(body)}0\r\n\r\n`;
    return answerTo(world.port, `${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${end}`);
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
