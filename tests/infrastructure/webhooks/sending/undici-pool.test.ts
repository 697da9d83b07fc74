import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { Pool } from 'undici';

/** What ADR 0046 rests on. When it fails, a pool of undici can hold the time of an attempt, and ours may go. */
test('a request of a pool that is aborted while it connects still waits for the connection', async () => {
  const sockets: Socket[] = [];
  // Takes connections, and never begins TLS.
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connectTimeoutMs = 1_000;
  const { port } = server.address() as AddressInfo;
  const pool = new Pool(`https://127.0.0.1:${port}`, {
    connections: 1,
    connect: { timeout: connectTimeoutMs },
  });
  const aborted = AbortSignal.timeout(50);
  const begun = performance.now();
  try {
    await expect(pool.request({ method: 'POST', path: '/', body: 'x', signal: aborted })).rejects.toThrow(
      /Connect Timeout/,
    );
    expect(performance.now() - begun).toBeGreaterThan(connectTimeoutMs - 100);
  } finally {
    await pool.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});
