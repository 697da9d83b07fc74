import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../application/app.ts';
import type { ClockMove } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { createHttpApp } from '../../infrastructure/http/app.ts';
import type { HttpDependencies } from '../../infrastructure/http/app.ts';
import { UploadArea } from '../../infrastructure/http/bodies/uploads.ts';
import { TokenBucketLimiter } from '../../infrastructure/http/limits/rate-limiter.ts';
import type { Readiness } from '../../infrastructure/http/server/health-app.ts';
import { DEFAULT_LIMITS, createHttpServer } from '../../infrastructure/http/server/http-server.ts';
import { ServedDescription } from './http-description.ts';
import { FakeClients, MemoryLogger, acceptingUseCases, client, tokenFor, verifyFake } from './http-fakes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON, or undefined. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface CallOptions {
  readonly json?: unknown;
  readonly body?: string | Buffer | FormData | URLSearchParams | ReadableStream;
  readonly headers?: Readonly<Record<string, string>>;
  /** A token, or false for none; by default one of client-a with every scope. */
  readonly auth?: string | false;
  /** Responses are compared with the served description unless this is false. */
  readonly described?: false;
}

interface WorldOptions {
  readonly settings?: Partial<HttpDependencies['settings']>;
  readonly limits?: Partial<typeof DEFAULT_LIMITS>;
  /** Instead of fakes. */
  readonly tokens?: HttpDependencies['tokens'];
  readonly clients?: HttpDependencies['clients'];
  readonly authenticator?: HttpDependencies['authenticator'];
  readonly reads?: NonNullable<HttpDependencies['reads']>;
  readonly texts?: NonNullable<HttpDependencies['texts']>;
}

/** Of the requests' rules. */
export const TODAY = calendarDate('2026-06-20');

/** The real application on a loopback port, with fakes behind it. `behaviour` may be changed between calls. */
export class HttpWorld {
  readonly behaviour = acceptingUseCases();
  readonly clients = new FakeClients();
  readonly logger = new MemoryLogger();
  /** UNIX milliseconds of the rate limits; tests move it. */
  now = 1_800_000_000_000;
  readonly limiter = new TokenBucketLimiter(() => this.now);
  readiness: Readiness = { ready: true, checks: { event_store: 'ok' } };
  baseUrl = '';
  port = 0;
  uploads = '';
  area!: UploadArea;
  http!: ReturnType<typeof createHttpServer>;
  description!: ServedDescription;

  static async start({ settings = {}, limits = {}, ...instead }: WorldOptions = {}): Promise<HttpWorld> {
    const world = new HttpWorld();
    world.uploads = temporaryDirectory();
    world.clients.add(client());
    const { behaviour, limiter } = world;
    const current = <Name extends keyof typeof behaviour>(name: Name) =>
      new Proxy(behaviour[name], { get: (_, member) => Reflect.get(behaviour[name], member) as unknown });
    const modules = {
      loans: current('loans'),
      renegotiation: current('renegotiation'),
      webhooks: current('webhooks'),
      publication: current('publication'),
      administrator: { disbursesAsAsked: () => behaviour.administrator.disbursesAsAsked() },
      maintenance: {
        sandboxClock: {
          show: () => behaviour.maintenance.sandboxClock.show(),
          move: (move: ClockMove) => behaviour.maintenance.sandboxClock.move(move),
        },
      },
    };
    world.area = await UploadArea.open(world.uploads);
    const app = await createHttpApp({
      settings: {
        environment: 'sandbox',
        publicUrl: 'http://localhost:3000',
        authUrl: 'http://localhost:3000',
        trustProxy: 0,
        strict: settings?.environment === 'production',
        ...settings,
      },
      app: modules as unknown as App,
      tokens: {
        issue: async ({ clientId, scopes = ['loans:read'] }, lifetime = 3_600) => ({
          accessToken: tokenFor(clientId),
          expiresIn: lifetime,
          scope: scopes.join(' '),
        }),
        jwks: async () => ({ keys: [{ kty: 'EC', kid: 'k' }] }),
        verify: verifyFake,
      },
      authenticator: {
        authenticate: async (clientId, secret) =>
          secret === 'right' ? world.clients.clients.get(clientId)?.client : undefined,
      },
      clients: world.clients,
      limiter,
      uploads: world.area,
      readiness: async () => world.readiness,
      clock: { today: () => TODAY },
      logger: world.logger,
      ...instead,
    });
    world.http = createHttpServer(app, limiter, { ...DEFAULT_LIMITS, ...limits });
    world.port = (await world.http.listen(0, '127.0.0.1')).port;
    world.baseUrl = `http://127.0.0.1:${world.port}`;
    const served = await fetch(`${world.baseUrl}/openapi.json`);
    world.description = ServedDescription.of(await served.text());
    return world;
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<HttpAnswer> {
    const headers: Record<string, string> = { ...options.headers };
    if (options.auth !== false) headers['authorization'] ??= `Bearer ${options.auth ?? tokenFor('client-a')}`;
    if (options.json !== undefined) headers['content-type'] ??= 'application/json';
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    const init = { method, headers, redirect: 'manual', duplex: 'half', ...(body !== undefined && { body }) };
    const response = await fetch(this.baseUrl + path, init as RequestInit);
    const text = await response.text();
    if (options.described !== false) this.#compare(method, path, response, text);
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }

  #compare(method: string, path: string, response: Response, text: string): void {
    const pathname = path.split('?')[0] ?? path;
    const { status, headers } = response;
    if (method === 'OPTIONS') return;
    const found = this.description.discrepancies({ method, path: pathname, status, headers, text });
    if (found.length > 0) throw new Error(`${method} ${path} -> ${status}: ${found.join('; ')}`);
  }

  /** Files of requests that are still on disk. */
  async uploadedFiles(): Promise<readonly string[]> {
    const folders = await readdir(this.uploads);
    const names = (await Promise.all(folders.map((folder) => readdir(join(this.uploads, folder))))).flat();
    return names.filter((name) => name !== 'owner');
  }

  async stop(): Promise<void> {
    await this.http.close(1_000);
    await this.area.close();
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
