import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/**
 * A receiver in a process of its own: reads what comes and answers 200, except under `/hang`, where it never answers. Started with
 * its key and certificate as a message; later, `latencies` is answered with how long events took to get here, in milliseconds, and
 * `arrivals` with which settlements came when.
 */
const latencies: number[] = [];
const arrivals: { readonly key: string; readonly at: number }[] = [];

process.once('message', ({ key, cert }: { key: string; cert: string }) => {
  const server = createServer({ key, cert, keepAlive: true }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url!.startsWith('/hang')) return;
      if (request.url!.startsWith('/timed')) {
        const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
        latencies.push(Date.now() - Date.parse(timestamp));
      }
      if (request.url!.startsWith('/arrivals')) {
        const at = performance.timeOrigin + performance.now();
        const { originator_proposal_code: code, data } = JSON.parse(Buffer.concat(chunks).toString()) as {
          originator_proposal_code: string;
          data: { installment_code?: string };
        };
        arrivals.push({ key: `${code}/${data.installment_code}`, at });
      }
      response.writeHead(200, { 'content-length': 0 }).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
  process.on('message', (what) => process.send!((what === 'arrivals' ? arrivals : latencies).splice(0)));
});
