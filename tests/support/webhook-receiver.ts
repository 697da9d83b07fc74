import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Authority } from './certificates.ts';

interface Arrival {
  readonly event: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly signature: string;
  readonly raw: Buffer;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- payloads are checked field by field where they are used
  readonly body: any;
}

/** A receiver of webhooks over TLS that remembers what arrived. */
export class WebhookReceiver {
  readonly arrivals: Arrival[] = [];
  readonly url: string;
  /** The status that a delivery is answered with. */
  respond: (arrival: Arrival) => number = () => 200;
  onArrival: (arrival: Arrival) => void = () => undefined;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `https://localhost:${(server.address() as AddressInfo).port}/hooks`;
  }

  static async start(ca: Authority): Promise<WebhookReceiver> {
    const server = createServer(await ca.leaf()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks);
        const header = (name: string): string => String(request.headers[name]);
        const arrival = {
          event: header('x-svc-event'),
          eventId: header('x-svc-event-id'),
          attempt: Number(header('x-svc-delivery-attempt')),
          signature: header('x-svc-signature'),
          raw,
          body: JSON.parse(raw.toString()) as unknown,
        };
        response.writeHead(receiver.respond(arrival)).end();
        receiver.arrivals.push(arrival);
        receiver.onArrival(arrival);
        for (const wake of [...receiver.#waiting]) wake();
      });
    });
    return receiver;
  }

  /** Names of the events of one operation, in the order of arrival, repetitions left out. */
  eventsOf(code: string): string[] {
    const seen = new Set<string>();
    return this.arrivals
      .filter(
        ({ body, eventId }) =>
          body.originator_proposal_code === code && !seen.has(eventId) && seen.add(eventId),
      )
      .map(({ event }) => event);
  }

  /** Resolves when the condition holds, checked at every arrival; fails after the deadline. */
  async until(condition: () => boolean, what: string, ms = 60_000): Promise<void> {
    const deadline = Date.now() + ms;
    while (!condition()) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`${what}: not within ${ms} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(wake, Math.min(left, 250));
        const waiting = this.#waiting;
        function wake(): void {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        }
        waiting.add(wake);
      });
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export const signatureHolds = (arrival: Arrival, secret: string): boolean =>
  arrival.signature === createHmac('sha256', secret).update(arrival.raw).digest('hex');
