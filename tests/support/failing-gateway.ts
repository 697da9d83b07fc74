import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const refusal = (code: string, retryable: boolean): string =>
  JSON.stringify({ error_code: code, message: code, request_id: '-', retryable });

/**
 * Stands before a service and makes each of its routes fail first: once unavailable, once with a token that is too old; of the routes
 * in `losing` the first answer is lost although the work was done.
 */
export class FailingGateway {
  readonly baseUrl: string;
  tokens = 0;
  /** What the latest request was authorised with. */
  authorization = '';
  readonly #server;
  readonly #seen = new Map<string, number>();

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string, losing: readonly string[]): Promise<FailingGateway> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const gateway = new FailingGateway(server);
    server.on('request', (req, res) => void gateway.#answer(target, losing, req, res));
    return gateway;
  }

  async #answer(
    target: string,
    losing: readonly string[],
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const body = await buffer(req);
    const route = `${req.method} ${req.url}`;
    const times = (this.#seen.get(route) ?? 0) + 1;
    this.#seen.set(route, times);
    this.authorization = req.headers.authorization ?? this.authorization;
    if (req.url === '/token') this.tokens += 1;
    else if (times === 1)
      return void res.writeHead(503, { 'Retry-After': '0' }).end(refusal('service_unavailable', true));
    else if (times === 2) return void res.writeHead(401).end(refusal('token_expired', false));
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = req.headers;
    const answer = await fetch(target + req.url, {
      method: req.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    const text = await answer.text();
    if (times === 3 && losing.includes(route)) return void req.socket.destroy();
    res.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' }).end(text);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
