import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createConsoleApp } from '../../infrastructure/console/app.ts';
import type { App } from '../../application/app.ts';
import type { Desk } from '../../application/desk/desk.ts';
import type { DeskEntry, DeskVisitor } from '../../domain/desk/line.ts';
import { Sessions } from '../../infrastructure/console/session.ts';
import { TokenBucketLimiter } from '../../infrastructure/http/limits/rate-limiter.ts';
import { createHttpServer } from '../../infrastructure/http/server/http-server.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

type ConsoleDependencies = Parameters<typeof createConsoleApp>[0];

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A line as the console hands it to the desk. */
interface HandedLine extends DeskEntry {
  readonly visitor: DeskVisitor;
  readonly session: string | undefined;
}

/** A service of which nothing may be reached. */
export const UNREACHABLE = new Proxy({} as App, {
  get: (_, name) => {
    throw new Error(`the service was asked for ${String(name)}`);
  },
});

/** The console without a browser: requests say exactly what a test wants them to say. */
export class ConsoleServer {
  readonly port: number;
  readonly logger: RecordingLogger;
  readonly sessions: Sessions;
  /** What went to the desk log, where the test has no desk of its own. */
  readonly lines: readonly HandedLine[];
  readonly #close: () => Promise<void>;
  /** Milliseconds that its clock has gone on. */
  elapsed = 0;

  private constructor(parts: {
    readonly port: number;
    readonly logger: RecordingLogger;
    readonly sessions: Sessions;
    readonly lines: readonly HandedLine[];
    readonly close: () => Promise<void>;
  }) {
    this.port = parts.port;
    this.logger = parts.logger;
    this.sessions = parts.sessions;
    this.lines = parts.lines;
    this.#close = parts.close;
  }

  static async open({
    settings = {},
    limits = {},
    service = UNREACHABLE,
    desk,
    clock = new ManualClock(),
    realClock = new ManualClock(),
    ...more
  }: {
    readonly settings?: Partial<Pick<ConsoleDependencies, 'host' | 'publicUrl' | 'operator' | 'readOnly'>>;
    readonly limits?: NonNullable<ConstructorParameters<typeof Sessions>[0]>;
    readonly service?: App;
    readonly desk?: Pick<Desk, 'record'>;
  } & Partial<
    Pick<ConsoleDependencies, 'clock' | 'realClock' | 'pages' | 'liveLookEveryMs' | 'signIn'>
  > = {}): Promise<ConsoleServer> {
    const sessionClock = { now: (): number => 0 };
    const sessions = new Sessions(limits, () => sessionClock.now());
    const logger = new RecordingLogger();
    const lines: HandedLine[] = [];
    const noting: Pick<Desk, 'record'> = {
      record: async (visitor, entries, session) =>
        void lines.push(...entries.map((entry) => ({ ...entry, visitor, session }))),
    };
    const withDesk = new Proxy(service, {
      get: (of, name) => (name === 'desk' ? (desk ?? noting) : (Reflect.get(of, name) as unknown)),
    });
    const defaults = { host: '127.0.0.1', operator: 'maria.souza', readOnly: false };
    const console = createConsoleApp({
      ...{ ...defaults, ...settings },
      service: withDesk,
      ...{ clock, realClock },
      sessions,
      logger,
      ...more,
    });
    const server = createHttpServer(console.app, new TokenBucketLimiter());
    const { port } = await server.listen(0, '127.0.0.1');
    const close = async (): Promise<void> => {
      console.close();
      await server.close(500);
    };
    const opened = new ConsoleServer({ port, logger, sessions, lines, close });
    sessionClock.now = () => opened.elapsed;
    return opened;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<ConsoleAnswer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.port, path, method, headers, agent: false },
        (res) => {
          let text = '';
          res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, text }));
          res.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Enters with a new token. @returns the cookie, as a browser sends it back, and what every form of the session sends along */
  async enter(): Promise<{ readonly cookie: string; readonly formToken: string }> {
    const { headers } = await this.ask(`/enter?token=${this.sessions.issueToken()}`);
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    const { formToken } = this.sessions.find(cookie.slice(cookie.indexOf('=') + 1), false)!;
    return { cookie, formToken };
  }

  /** As a page of the console posts a form. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
  ): Promise<ConsoleAnswer> {
    return this.ask(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: this.origin, ...headers },
    });
  }

  close(): Promise<void> {
    return this.#close();
  }
}
