import { ApiError, ConnectionError } from './errors.ts';
import type { RefusalBody, ReceivablesError } from './errors.ts';
import { formOf, jsonOf } from './bodies.ts';
import type { UploadedFile } from './bodies.ts';
import { mayHaveArrived, mayRepeat, secondsOf, waitBefore } from './repeating.ts';
import type { Outcome } from './repeating.ts';
import type { CallOptions, ClientSettings, RequestOptions } from './settings.ts';
import { Tokens } from './tokens.ts';
import type { IssuedToken } from './tokens.ts';
import { orStopped, pause, within } from './waiting.ts';

/** One request, as the description has it. */
export interface Request {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** Whether it may be carried out twice without a second effect. */
  readonly idempotent: boolean;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly json?: object;
  readonly form?: { readonly part: string; readonly data: object; readonly files: readonly UploadedFile[] };
  /** Whether the answer is the content of a file. */
  readonly bytes?: boolean;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly content: Uint8Array;
  readonly refusal: RefusalBody | undefined;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
}

const ATTEMPTS = 6;
const TIMEOUT_MS = 30_000;
const LONGEST_WAIT_MS = 120_000;
const NO_CONTENT = 204;
const RENEWED = new Set(['token_expired', 'invalid_token']);

/** A path with its values filled in. @throws TypeError for a value that would make it another path */
export const pathOf = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
      throw new TypeError(`${name} must be a text that is not empty and not made of dots`);
    }
    return encodeURIComponent(value);
  });

const queryOf = (query: Readonly<Record<string, unknown>> = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text}`;
};

const refusalIn = (text: string): RefusalBody | undefined => {
  try {
    const body = JSON.parse(text) as Partial<RefusalBody> | null;
    return typeof body?.error_code === 'string' ? (body as RefusalBody) : undefined;
  } catch {
    return undefined;
  }
};

const keyIn = (body: object | undefined): string | undefined => {
  const { idempotency_key, decision_id } = (body ?? {}) as Record<string, unknown>;
  const key = idempotency_key ?? decision_id;
  return typeof key === 'string' ? key : undefined;
};

const textOf = (content: Uint8Array): string => new TextDecoder().decode(content);

const isExpired = (outcome: Outcome): boolean =>
  'refusal' in outcome && RENEWED.has(outcome.refusal?.error_code ?? '');

const mayBeDone = ({ init }: Sent, outcome: Outcome): boolean =>
  init.method !== 'GET' && ('lost' in outcome ? mayHaveArrived(outcome.lost) : outcome.status >= 500);

/** Whether the call went well: with an answer, or since what was to be deleted is gone by an attempt that got none. */
const isOver = (
  { init }: Sent,
  outcome: Answer | { readonly lost: unknown },
  maybeDone: boolean,
): outcome is Answer =>
  !('lost' in outcome) &&
  ((outcome.status >= 200 && outcome.status < 300) ||
    (maybeDone && init.method === 'DELETE' && outcome.status === 404 && outcome.refusal !== undefined));

/** Milliseconds until the next attempt; undefined where there is none. */
const waitOf = (
  { idempotent }: Sent,
  outcome: Outcome,
  attempt: number,
  { attempts = ATTEMPTS, longestWaitMs = LONGEST_WAIT_MS }: RequestOptions,
): number | undefined => {
  if (attempt >= attempts || !mayRepeat(outcome, idempotent)) return undefined;
  const wait = waitBefore(outcome, attempt);
  return wait <= longestWaitMs ? wait : undefined;
};

const errorOf = ({ operation, key }: Sent, outcome: Outcome, maybeDone: boolean): ReceivablesError => {
  const about = { operation, idempotency_key: key, maybe_done: maybeDone };
  return 'lost' in outcome ? new ConnectionError(about, outcome.lost) : new ApiError(outcome, about);
};

/** What kept a token from being issued, as an error of the call that needs one: all who wait meet one failure, and each its own. */
const withoutToken = (failure: unknown, { key }: Sent, maybeDone: boolean): unknown => {
  const about = { idempotency_key: key, maybe_done: maybeDone };
  if (failure instanceof ConnectionError) {
    return new ConnectionError({ operation: failure.operation, ...about }, failure.cause);
  }
  if (!(failure instanceof ApiError)) return failure;
  const { operation, status, retry_after, request_id, error_code, message, retryable, details } = failure;
  const refusal = { error_code, message, request_id, retryable, details };
  return new ApiError({ status, refusal, retryAfter: retry_after }, { operation, ...about });
};

/** The JSON of an answer that went well. @throws ApiError where it is none: something else than the service answered */
const readAs = (sent: Sent, answer: Answer): unknown => {
  if (answer.status === NO_CONTENT) return undefined;
  try {
    return JSON.parse(textOf(answer.content));
  } catch {
    throw errorOf(sent, answer, sent.init.method !== 'GET');
  }
};

const withoutEnd = (address: string): string => address.replace(/\/$/, '');

/** Sends requests: with a token, again where that is harmless, and with errors that say what happened. */
export class Transport {
  readonly #settings: ClientSettings;
  readonly #userAgent: string;
  readonly #tokens: Tokens;

  constructor(settings: ClientSettings, version: string) {
    for (const name of ['baseUrl', 'clientId', 'clientSecret'] as const) {
      if (typeof settings[name] !== 'string' || settings[name] === '')
        throw new TypeError(`${name} is missing`);
    }
    for (const address of [settings.baseUrl, settings.authUrl ?? settings.baseUrl]) {
      if (!/^https?:\/\//.test(address) || !URL.canParse(address))
        throw new TypeError(`${address} is no address that begins with https://`);
    }
    this.#settings = { ...settings, baseUrl: withoutEnd(settings.baseUrl) };
    this.#userAgent = `receivables-fund/${version} Node.js/${process.versions.node}`;
    this.#tokens = new Tokens(() => this.#issueToken());
  }

  /** @returns the JSON of the answer, the bytes of a file, or undefined where there is nothing */
  async call(request: Request, options: CallOptions = {}): Promise<unknown> {
    const sandbox = Object.entries(options.sandbox ?? {}).filter(([, wish]) => wish !== undefined);
    const headers = Object.fromEntries(sandbox.map(([name, wish]) => [`x-sandbox-${name}`, String(wish)]));
    const url = `${this.#settings.baseUrl}${request.path}${queryOf(request.query)}`;
    const body = request.form
      ? formOf(request.form.part, request.form.data, request.form.files)
      : request.json && jsonOf(request.json);
    if (request.json) headers['content-type'] = 'application/json';
    const init = { method: request.method, headers, ...(body !== undefined && { body }) };
    const sent = { url, init, key: keyIn(request.json), ...request };
    const signal = options.signal ?? this.#settings.signal;
    const answer = await this.#insistently(sent, { ...this.#settings, ...options, signal }, true);
    if (request.bytes || answer === undefined) return answer?.content;
    return readAs(sent, answer);
  }

  async #issueToken(): Promise<IssuedToken> {
    const { authUrl, baseUrl, clientId, clientSecret, scope, sandboxTokenLifetime } = this.#settings;
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const sent = {
      url: `${withoutEnd(authUrl ?? baseUrl)}/token`,
      init: {
        method: 'POST',
        headers: sandboxTokenLifetime ? { 'x-sandbox-token-lifetime': sandboxTokenLifetime } : {},
        body: new URLSearchParams({ ...form, ...(scope !== undefined && { scope }) }),
      },
      operation: 'issueToken',
      key: undefined,
      idempotent: true,
    };
    // What one caller wants must not end what others wait for: no signal of theirs, the time-outs do.
    const answer = await this.#insistently(sent, { ...this.#settings, signal: undefined }, false);
    return readAs(sent, answer!) as IssuedToken;
  }

  /** @returns undefined for something to delete that an earlier attempt has deleted */
  async #insistently(sent: Sent, options: RequestOptions, authorised: boolean): Promise<Answer | undefined> {
    let [renewed, maybeDone] = [false, false];
    for (let attempt = 1; ; attempt += 1) {
      const token = authorised ? await this.#token(sent, maybeDone, options.signal) : undefined;
      const since = performance.now();
      const outcome = await this.#attempt(sent, token, options);
      const expired = token !== undefined && !renewed && isExpired(outcome);
      const again = expired ? 0 : waitOf(sent, outcome, attempt - Number(renewed), options);
      this.#report(sent.operation, outcome, { attempt, since, again_in: again });
      if (isOver(sent, outcome, maybeDone)) return outcome.status === 404 ? undefined : outcome;
      maybeDone ||= mayBeDone(sent, outcome);
      if (again === undefined) throw errorOf(sent, outcome, maybeDone);
      if (expired) this.#tokens.refuse(token);
      renewed ||= expired;
      await pause(again, options.signal);
    }
  }

  async #token(sent: Sent, maybeDone: boolean, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await orStopped(this.#tokens.get(), signal);
    } catch (failure) {
      signal?.throwIfAborted();
      throw withoutToken(failure, sent, maybeDone);
    }
  }

  /** One attempt. @throws only the reason of the caller's signal */
  async #attempt(
    { url, init }: Sent,
    token: string | undefined,
    { timeoutMs = TIMEOUT_MS, signal }: RequestOptions,
  ): Promise<Answer | { readonly lost: unknown }> {
    const headers = new Headers({ ...init.headers, 'user-agent': this.#userAgent });
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const send = this.#settings.fetch ?? fetch;
    try {
      return await within(timeoutMs, signal, async (bounded) => {
        // A redirection would turn a write into a read, or carry the token elsewhere.
        const response = await send(url, { ...init, headers, redirect: 'manual', signal: bounded });
        const content = new Uint8Array(await response.arrayBuffer());
        const answer = { status: response.status, headers: response.headers, content };
        const retryAfter = secondsOf(response.headers.get('retry-after'));
        const refusal = response.ok ? undefined : refusalIn(textOf(content));
        const requestId = response.headers.get('x-request-id') ?? undefined;
        return { ...answer, retryAfter, refusal, requestId };
      });
    } catch (lost) {
      signal?.throwIfAborted();
      return { lost };
    }
  }

  #report(
    operation: string,
    outcome: Answer | { readonly lost: unknown },
    {
      attempt,
      since,
      again_in,
    }: { readonly attempt: number; readonly since: number; readonly again_in: number | undefined },
  ): void {
    const answer = 'lost' in outcome ? undefined : outcome;
    this.#settings.onAttempt?.({
      ...{ operation, attempt, again_in },
      status: answer?.status,
      error_code: answer?.refusal?.error_code,
      request_id: answer?.requestId,
      replayed: answer?.headers.get('idempotent-replayed') === 'true',
      deprecation: answer?.headers.get('x-svc-api-deprecation') ?? undefined,
      milliseconds: Math.round(performance.now() - since),
    });
  }
}

interface Sent {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | FormData | URLSearchParams;
  };
  readonly operation: string;
  readonly key: string | undefined;
  readonly idempotent: boolean;
}
