import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A receiver in a process of its own that reads what comes and answers 200. Started with its key and certificate as a message. */
process.on('message', ({ key, cert }: { key: string; cert: string }) => {
  let received = 0;
  const server = createServer({ key, cert, keepAlive: true }, (request, response) => {
    request.on('data', () => undefined);
    request.on('end', () => {
      received += 1;
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
  process.on('message', (message) => {
    if (message === 'count') process.send!({ received });
  });
});
