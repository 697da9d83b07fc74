import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Dispatcher, buildConnector } from 'undici';
import type { PinnedConnector } from './pinned-connector.ts';
import type { Route } from './webhook-sender.ts';

/** Why we ended it ourselves: its time was over, or the service stops. */
export type Interruption = 'late' | 'cut_off';

export type DeliveryAnswer =
  | { readonly kind: Interruption; readonly status: number | null; readonly phase: Phase }
  /** `whole`: its end was read. What stands behind the first 64 KiB of a body is cut off unread. */
  | { readonly kind: 'answered'; readonly status: number; readonly whole: boolean }
  | {
      readonly kind: 'broken';
      readonly error: unknown;
      readonly status: number | null;
      /** Not one byte came back. */
      readonly silent: boolean;
    };

type Phase = 'connecting' | 'waiting for the answer' | 'reading the answer';

const MOST_BYTES_READ = 64 * 1024;
const MOST_BYTES_KEPT = 2 * 1024;

/** One request and its answer on one connection: notes the status, counts the body, keeps its beginning. */
export class DeliveryRequest implements Dispatcher.DispatchHandler {
  readonly result: Promise<DeliveryAnswer>;
  #resolve!: (result: DeliveryAnswer) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #cancelled = false;
  #silent = true;
  #status: number | null = null;
  #bytes = 0;
  readonly #kept: Buffer[] = [];

  constructor() {
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get #phase(): Phase {
    if (this.#controller === undefined) return 'connecting';
    return this.#status === null ? 'waiting for the answer' : 'reading the answer';
  }

  interrupt(kind: Interruption): void {
    this.#resolve({ kind, status: this.#status, phase: this.#phase });
  }

  /** Nothing is sent after this, even if it is still waiting for its connection. */
  cancel(): void {
    this.#cancelled = true;
    this.#controller?.abort(new Error('cancelled'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(new Error('cancelled'));
  }

  onResponseStarted(): void {
    this.#silent = false;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // Provisional answers announce another one.
    if (status >= 200) this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < MOST_BYTES_KEPT) {
      // A copy: a slice would keep the whole chunk in memory.
      this.#kept.push(Buffer.from(chunk.subarray(0, MOST_BYTES_KEPT - this.#bytes)));
    }
    this.#bytes += chunk.length;
    if (this.#bytes <= MOST_BYTES_READ) return;
    this.#resolve({ kind: 'answered', status: this.#status ?? 0, whole: false });
    controller.abort(new Error('enough'));
  }

  /** The first bytes of the body as text that any database can store; undefined when none came. */
  get bodyStart(): string | undefined {
    if (this.#bytes === 0) return undefined;
    // As a stream, so that a character cut in two at the end is left out.
    const text = new TextDecoder().decode(Buffer.concat(this.#kept), { stream: true });
    return text.replaceAll('\0', '\uFFFD');
  }

  onResponseEnd(): void {
    this.#resolve({ kind: 'answered', status: this.#status ?? 0, whole: true });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#resolve({ kind: 'broken', error, status: this.#status, silent: this.#silent });
  }
}

interface ConnectionSettings {
  readonly connector: PinnedConnector;
  /** Whether the peer that a socket ended up at is one that may be sent to. */
  readonly acceptsPeer: (socket: Socket) => boolean;
  /** Time-outs of single phases; the attempt's own total is shorter or equal, and decides. */
  readonly phaseTimeoutMs: number;
}

/** Shorter than what common servers grant, so that seldom a request meets a connection that is just being closed. */
const KEEP_ALIVE_MS = 4_000;
const LONGEST_KEEP_ALIVE_MS = 30_000;

/** One connection to one origin: one request at a time, kept alive in between. */
export class ReceiverConnection {
  readonly origin: string;
  readonly #client: Client;
  #socket: Socket | undefined;
  #connects = 0;
  #alive = true;
  /** Called when it ends while nothing runs on it. */
  onEnd: (() => void) | undefined;

  constructor(route: Route, settings: ConnectionSettings) {
    this.origin = route.target.origin;
    this.#client = new Client(this.origin, {
      connect: (options, callback) => this.#connect(route, settings, options, callback),
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: LONGEST_KEEP_ALIVE_MS,
      headersTimeout: settings.phaseTimeoutMs,
      bodyTimeout: settings.phaseTimeoutMs,
    });
    this.#client.on('disconnect', () => {
      this.#alive = false;
      this.onEnd?.();
    });
  }

  #connect(
    { addresses }: Route,
    { connector, acceptsPeer }: ConnectionSettings,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    this.#connects += 1;
    const done: buildConnector.Callback = (...[error, socket]) => {
      if (error) return callback(error, null);
      if (acceptsPeer(socket)) return callback(null, socket);
      socket.destroy();
      callback(
        Object.assign(new Error('connected to an address that was not checked'), { code: 'ECONNREFUSED' }),
        null,
      );
    };
    this.#socket = connector.connect(addresses, options, done);
  }

  /** Connections made so far: unchanged over a request, that request went over one that existed before. */
  get connects(): number {
    return this.#connects;
  }

  get reusable(): boolean {
    return this.#alive && !this.#client.destroyed;
  }

  dispatch(request: Omit<Dispatcher.DispatchOptions, 'origin'>, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch({ ...request, origin: this.origin }, handler);
  }

  /** At once, whatever it is doing. */
  destroy(): void {
    this.#alive = false;
    this.onEnd = undefined;
    this.#socket?.destroy();
    this.#client.destroy().catch(() => undefined);
  }
}

/**
 * Idle connections by origin, the most recently used first. How many are open at a time is bounded by who asks for them; an idle
 * one closes itself.
 */
export class ReceiverConnections {
  readonly #settings: ConnectionSettings;
  readonly #idle = new Map<string, ReceiverConnection[]>();
  readonly #busy = new Set<ReceiverConnection>();

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** An idle one if there is any, unless a new one is asked for. */
  take(route: Route, fresh: boolean): ReceiverConnection {
    const idle = fresh ? undefined : this.#pop(route.target.origin);
    const connection = idle ?? new ReceiverConnection(route, this.#settings);
    connection.onEnd = undefined;
    this.#busy.add(connection);
    return connection;
  }

  #pop(origin: string): ReceiverConnection | undefined {
    const idle = this.#idle.get(origin);
    const connection = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(origin);
    return connection;
  }

  /** Back after a whole answer; anything else goes through `destroy`. */
  giveBack(connection: ReceiverConnection): void {
    this.#busy.delete(connection);
    if (!connection.reusable) return connection.destroy();
    const idle = this.#idle.get(connection.origin);
    if (idle) idle.push(connection);
    else this.#idle.set(connection.origin, [connection]);
    connection.onEnd = () => this.#forget(connection);
  }

  #forget(connection: ReceiverConnection): void {
    const idle = this.#idle.get(connection.origin)?.filter((other) => other !== connection) ?? [];
    if (idle.length > 0) this.#idle.set(connection.origin, idle);
    else this.#idle.delete(connection.origin);
    connection.destroy();
  }

  destroy(connection: ReceiverConnection): void {
    this.#busy.delete(connection);
    connection.destroy();
  }

  /** Closes everything, also what is in use. */
  close(): void {
    for (const connection of [...this.#busy, ...[...this.#idle.values()].flat()]) connection.destroy();
    this.#busy.clear();
    this.#idle.clear();
  }
}
