import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

const LATENCY_MS = 20;
const CHANGES = 6;

test('what goes through the proxy of the tests stays in order while its latency changes', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const arrived: number[] = [];
  const ended = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      // The proxy resets what is open when it closes.
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        arrived.push(...bytes);
        if (bytes.includes(0)) resolve();
      });
    });
  });
  const proxy = await TcpProxy.start({ port: (server.address() as AddressInfo).port });
  const client = connect({ host: '127.0.0.1', port: proxy.port, noDelay: true });
  client.on('error', () => undefined);
  await once(client, 'connect');
  const sent: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    proxy.delay(change % 2 === 0 ? LATENCY_MS : 0);
    for (let n = 0; n < LATENCY_MS; n++) {
      sent.push(sent.length + 1);
      client.write(Buffer.from([sent.length]));
      await pause(1);
    }
  }
  client.write(Buffer.from([0]));
  await ended;
  await proxy.close();
  server.close();
  expect(arrived).toEqual([...sent, 0]);
});
