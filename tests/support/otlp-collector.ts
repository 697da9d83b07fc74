import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

/* eslint-disable @typescript-eslint/no-explicit-any -- the JSON of OTLP, read field by field */
const valueOf = (value: any): unknown =>
  value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue);
const attributesOf = (list: any[] = []): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));
const spanOf = (span: any): CollectedSpan => ({
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  attributes: attributesOf(span.attributes),
  links: (span.links ?? []).map(({ traceId, spanId }: any) => ({ traceId, spanId })),
});

/** Takes spans over OTLP/HTTP as JSON, as a collector does, and keeps them. */
export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  /** Everything as it came, for looking for what must not be in it. */
  raw = '';
  resource: Readonly<Record<string, unknown>> = {};
  readonly url: string;
  status = 200;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<OtlpCollector> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const collector = new OtlpCollector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/v1/traces' && collector.status === 200)
          collector.#take(Buffer.concat(chunks).toString());
        response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}');
      });
    });
    return collector;
  }

  #take(text: string): void {
    this.raw += text;
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      this.resource = attributesOf(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(spanOf));
    }
  }

  async until(condition: () => boolean, what: string, ms = 60_000): Promise<void> {
    const deadline = Date.now() + ms;
    while (!condition()) {
      if (Date.now() > deadline)
        throw new Error(`${what}: ${JSON.stringify(this.spans.map(({ name }) => name))}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
