import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { authority } from './certificates.ts';
import { documentedCode } from './documented-receiver.ts';
import { RunningService } from './running-service.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { TlsReceiver } from './tls-receiver.ts';
import { trusting } from './trusted-receiver.ts';

const refusal = (code: string, retryable: boolean): string =>
  JSON.stringify({ error_code: code, message: code, request_id: '-', retryable });

/**
 * Stands before a service and makes each of its routes fail first: once unavailable, once with a token that is too old; of the routes
 * in `losing` the first answer is lost although the work was done.
 */
class FailingGateway {
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

const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
const PAGE = 'clients.md';
const LIMIT_MS = 120_000;

interface Lived {
  readonly output: string;
  readonly tokens: number;
  readonly received: number;
  readonly events: readonly string[];
  /** How many are left. */
  readonly subscriptions: number;
}

/** A sandbox, a receiver that it may reach, and a folder with programs of the documentation. */
export class DocumentedLife {
  readonly running: RunningService;
  readonly folder: string;
  readonly #application: string;
  readonly #receiver: TlsReceiver;

  private constructor(running: RunningService, application: string, receiver: TlsReceiver, folder: string) {
    this.running = running;
    this.#application = application;
    this.folder = folder;
    this.#receiver = receiver;
  }

  static async prepare(programs: readonly string[]): Promise<DocumentedLife> {
    const folder = temporaryDirectory();
    for (const name of programs) await writeFile(join(folder, name), documentedCode(PAGE, name));
    const ca = await authority();
    const running = await RunningService.start({
      ...trusting(ca),
    });
    const receiver = await TlsReceiver.start(await ca.leaf());
    const { application_id } = await running.createClient(FUND);
    return new DocumentedLife(running, application_id, receiver, folder);
  }

  /** Runs a block of the page through a gateway that fails, in a shell of a reader who has these programs first in the path. */
  async live(block: string, programs: string): Promise<Lived> {
    // One of its own for each life, because the gateway makes it ask for more tokens than a client gets in a minute.
    const { client_id, client_secret } = await this.running.createClient(FUND, 1_000, this.#application);
    const gateway = await FailingGateway.start(this.running.baseUrl, ['POST /installment/settle']);
    const events = this.#refuseFirstAttempts();
    try {
      const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', documentedCode(PAGE, block)], {
        cwd: this.folder,
        timeout: LIMIT_MS,
        env: {
          ...process.env,
          PATH: `${programs}:${process.env['PATH']}`,
          BASE: gateway.baseUrl,
          CLIENT_ID: client_id,
          CLIENT_SECRET: client_secret,
          FUND,
          RECEIVER: this.#receiver.url,
        },
      });
      const read = async <Answer>(path: string): Promise<Answer> =>
        (await fetch(this.running.baseUrl + path, {
          headers: { authorization: gateway.authorization },
        }).then((answer) => answer.json())) as Answer;
      const { data } = await read<{ data: { originator_proposal_code: string }[] }>('/loan?limit=200');
      const paid = data.findLast(({ originator_proposal_code: code }) => code.endsWith('-1'));
      const loan = await read<{ balances: { received_value: number } }>(
        `/loan/${paid?.originator_proposal_code}`,
      );
      const subscriptions = await read<{ data: unknown[] }>('/webhook');
      return {
        output: stdout.trim(),
        tokens: gateway.tokens,
        received: loan.balances.received_value,
        events: [...events].sort(),
        subscriptions: subscriptions.data.length,
      };
    } finally {
      await gateway.stop();
    }
  }

  /** Fills the list with the names of the events that come in. */
  #refuseFirstAttempts(): readonly string[] {
    const events: string[] = [];
    this.#receiver.answer = (response, request) => {
      const event = String(request.headers['x-svc-event']);
      const refused = event === 'loan_rejected' && request.headers['x-svc-delivery-attempt'] === '1';
      events.push(event);
      response.writeHead(refused ? 503 : 200).end(refused ? 'closed until noon' : '');
    };
    return events;
  }

  async end(): Promise<void> {
    await this.running.stop();
    await this.#receiver.close();
  }
}

/** What each life prints and leaves behind. */
export const LIVED = {
  output: [
    'settled quoted prepayment_processed renegotiated repurchase_pending received overdue',
    'delivered rejected 503 closed until noon delivered',
  ].join('\n'),
  /** Of its operation: the payment and the prepayment, once each. */
  received: 900 + 100,
  /** What came in, sorted: the rejection twice; a ping at subscribing, and one that was asked for. */
  events: ['loan_rejected', 'loan_rejected', 'webhook.ping', 'webhook.ping'],
  subscriptions: 0,
};
