import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:crypto';
import type { LookupFunction, Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { Client, buildConnector } from 'undici';
import type { Addresses } from '../addresses/address-guard.ts';
import type { DeliveryRequest } from './delivery-request.ts';
import { signedHeaders } from './webhook-sender.ts';
import type { Route, WebhookRequest } from './webhook-sender.ts';

/**
 * What connections to receivers trust. Everything is spelled out, so that no environment variable or flag of the process that
 * lowers a default can lower it here. Built once: reading all roots takes milliseconds.
 * @param extraRoots PEM of further authorities, beside the public ones
 */
export const webhookTrust = (extraRoots?: string): SecureContext =>
  createSecureContext({
    ca: extraRoots === undefined ? [...rootCertificates] : [...rootCertificates, extraRoots],
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: constants.defaultCoreCipherList,
  });

type Connect = (...to: Parameters<buildConnector.connector>) => Socket | undefined;

/** A connector of undici answers the socket, although its type does not say so. */
export const connector = (options: buildConnector.BuildOptions): Connect =>
  buildConnector(options) as Connect;

/** Opens TLS connections to addresses that were found before; no name is looked up while it connects. */
export class PinnedConnector {
  readonly #connect: Connect;
  readonly #addresses = new AsyncLocalStorage<Addresses | undefined>();

  constructor(options: buildConnector.BuildOptions & { readonly secureContext: SecureContext }) {
    // One for all connections, since it also remembers TLS sessions.
    this.#connect = connector({ ...options, lookup: this.#lookup });
  }

  /** Answers the socket at once: it is what must go when an attempt's time is over. */
  connect(
    addresses: Addresses | undefined,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): Socket | undefined {
    return this.#addresses.run(addresses, () => this.#connect(options, callback));
  }

  readonly #lookup: LookupFunction = (_hostname, { family, all }, callback) => {
    const addresses = this.#addresses.getStore() ?? [];
    const fitting = addresses.filter((one) => (family !== 4 && family !== 6) || one.family === family);
    const [first] = fitting;
    if (!first) callback(Object.assign(new Error('no address of this family'), { code: 'ENODATA' }), '', 0);
    else if (all) callback(null, [...fitting]);
    else callback(null, first.address, first.family);
  };
}

interface Destination extends Pick<Route, 'addresses'> {
  readonly target: Pick<Route['target'], 'origin'>;
}

interface ConnectionSettings {
  readonly connector: Pick<PinnedConnector, 'connect'>;
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
  #exchange: DeliveryRequest | undefined;
  /** All that came over this connection and was handed to undici. */
  #bytesRead = 0;
  /** Of that, before the present exchange. */
  #bytesBefore = 0;
  /** Called when it ends while nothing runs on it. */
  onEnd: (() => void) | undefined;

  constructor(route: Destination, settings: ConnectionSettings) {
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
    { addresses }: Destination,
    { connector, acceptsPeer }: ConnectionSettings,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    this.#connects += 1;
    const done: buildConnector.Callback = (...[error, socket]) => {
      if (error) return callback(error, null);
      if (acceptsPeer(socket)) {
        this.#watch(socket);
        return callback(null, socket);
      }
      socket.destroy();
      callback(
        Object.assign(new Error('connected to an address that was not checked'), { code: 'ECONNREFUSED' }),
        null,
      );
    };
    this.#socket = connector.connect(addresses, options, done);
  }

  /**
   * Counts what comes in ahead of undici, which reads what means nothing (a reason phrase, an extension of a chunk, line breaks
   * before an answer) without telling and without end. What has arrived by then was read in the turn before.
   */
  #watch(socket: Socket): void {
    socket.on('readable', () => {
      const exchange = this.#exchange;
      if (exchange === undefined || exchange.isOver) socket.destroy();
      else exchange.noteBytes(this.#bytesRead - this.#bytesBefore);
      this.#bytesRead = socket.bytesRead;
    });
  }

  /** Connections made so far: unchanged over a request, that request went over one that existed before. */
  get connects(): number {
    return this.#connects;
  }

  /** A name may have moved while this was kept alive; there is but one place for an address that the URL itself names. */
  leadsTo(addresses: Addresses | undefined): boolean {
    const peer = this.#socket?.remoteAddress;
    return addresses === undefined || addresses.some(({ address }) => address === peer);
  }

  get reusable(): boolean {
    return this.#alive && !this.#client.destroyed;
  }

  /** Signs and sends. @param now UNIX milliseconds */
  post(path: string, request: WebhookRequest, now: number, exchange: DeliveryRequest): void {
    const body = Buffer.from(request.body, 'utf8');
    const headers = signedHeaders({ ...request, body }, String(Math.floor(now / 1000)));
    this.#exchange = exchange;
    this.#bytesBefore = this.#bytesRead;
    this.#client.dispatch({ method: 'POST', origin: this.origin, path, headers, body }, exchange);
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
    const idle = fresh ? undefined : this.#pop(route);
    const connection = idle ?? new ReceiverConnection(route, this.#settings);
    connection.onEnd = undefined;
    this.#busy.add(connection);
    return connection;
  }

  #pop({ target: { origin }, addresses }: Route): ReceiverConnection | undefined {
    const connection = this.#idle.get(origin)?.findLast((one) => one.leadsTo(addresses));
    if (connection) this.#unlist(connection);
    return connection;
  }

  #unlist(connection: ReceiverConnection): void {
    const idle = this.#idle.get(connection.origin)?.filter((other) => other !== connection) ?? [];
    if (idle.length > 0) this.#idle.set(connection.origin, idle);
    else this.#idle.delete(connection.origin);
  }

  /** Back after a whole answer; anything else goes through `destroy`. */
  giveBack(connection: ReceiverConnection): void {
    this.#busy.delete(connection);
    if (!connection.reusable) return connection.destroy();
    const idle = this.#idle.get(connection.origin);
    if (idle) idle.push(connection);
    else this.#idle.set(connection.origin, [connection]);
    connection.onEnd = () => {
      this.#unlist(connection);
      connection.destroy();
    };
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
