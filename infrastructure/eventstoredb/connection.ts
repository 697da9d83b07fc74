import { setTimeout as delay } from 'node:timers/promises';
import { StreamsClient, StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Metadata, connectivityState } from '@grpc/grpc-js';
import type { CallOptions, ClientDuplexStream, ClientReadableStream } from '@grpc/grpc-js';
import { backoff } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import type { ConnectionSettings } from './connection-string.ts';
import { Discovery } from './discovery.ts';
import { decodeReadAnswer } from './messages.ts';
import type { ReadAnswer } from './messages.ts';
import { NoLeaderError, isReasonToLeave, isSilence, leaderNamedBy } from './failures.ts';

/** Each has a connection of its own to the same node, so that subscriptions do not take the places of appends there. */
const PURPOSES = ['appends', 'reads', 'subscriptions'] as const;
type Purpose = (typeof PURPOSES)[number];

/** Events of up to 16 MiB may stand in a log that others write as well. */
const LARGEST_MESSAGE = 17 * 1024 * 1024;
const PAUSE_BETWEEN_ROUNDS_MS = 100;

/** A node that is called, until it is left. */
export class Node {
  readonly address: string;
  readonly #clients: Readonly<Record<Purpose, StreamsClient>>;
  readonly #metadata: Readonly<Record<Purpose, Metadata>>;
  readonly #leaving = new AbortController();
  readonly #waiting = new Set<() => void>();

  constructor(address: string, settings: ConnectionSettings) {
    this.address = address;
    this.#metadata = {
      appends: metadataOf(settings, 'appends'),
      reads: metadataOf(settings, 'reads'),
      subscriptions: metadataOf(settings, 'subscriptions'),
    };
    const options = {
      'grpc.keepalive_time_ms': positive(settings.keepAliveIntervalMs),
      'grpc.keepalive_timeout_ms': positive(settings.keepAliveTimeoutMs),
      'grpc.max_receive_message_length': LARGEST_MESSAGE,
      // Without it clients with equal settings share a connection, also one that another of them has left.
      'grpc.use_local_subchannel_pool': 1,
    };
    const connect = (): StreamsClient => new StreamsClient(address, settings.channel, options);
    this.#clients = { appends: connect(), reads: connect(), subscriptions: connect() };
  }

  /** Ends when the node is left: whatever is on its way there will not be heard of any more. */
  get left(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Calls back once when the node is left, until the answer is called. Cheaper than the signal where hundreds wait. */
  whenLeft(tell: () => void): () => void {
    this.#waiting.add(tell);
    return () => this.#waiting.delete(tell);
  }

  /** Carries appends, each a message that is written already. */
  appends<Answer>(decode: (bytes: Buffer) => Answer): ClientDuplexStream<Buffer, Answer> {
    const { path } = StreamsService.batchAppend;
    return this.#clients.appends.makeBidiStreamRequest(path, asItIs, decode, this.#metadata.appends);
  }

  /** A read, or a subscription, which is a read without an end. The request is a message that is written already. */
  read(purpose: Purpose, request: Buffer, options: CallOptions = {}): ClientReadableStream<ReadAnswer> {
    const { path } = StreamsService.read;
    const metadata = this.#metadata[purpose];
    return this.#clients[purpose].makeServerStreamRequest(
      path,
      asItIs,
      decodeReadAnswer,
      request,
      metadata,
      options,
    );
  }

  /** Calls back once there is a connection; never where the node is left before. */
  whenConnected(purpose: Purpose, tell: () => void): void {
    if (this.left.aborted) return;
    const channel = this.#clients[purpose].getChannel();
    const state = channel.getConnectivityState(false);
    if (state === connectivityState.READY) tell();
    else channel.watchConnectivityState(state, Infinity, () => this.whenConnected(purpose, tell));
  }

  close(): void {
    if (this.left.aborted) return;
    this.#leaving.abort();
    for (const tell of this.#waiting) tell();
    this.#waiting.clear();
    for (const purpose of PURPOSES) this.#clients[purpose].close();
  }
}

const asItIs = (bytes: Buffer): Buffer => bytes;

const metadataOf = ({ connectionName, authorization }: ConnectionSettings, purpose: Purpose): Metadata => {
  const metadata = new Metadata();
  metadata.set('connection-name', `${connectionName}-${purpose}`);
  metadata.set('requires-leader', 'true');
  if (authorization !== undefined) metadata.set('authorization', authorization);
  return metadata;
};

/** Keep-alive is switched off by -1, for which the library has no value of its own. */
const positive = (ms: number): number => (ms < 0 ? 2 ** 31 - 1 : ms);

/**
 * Knows which node to call: finds it when it is first needed, leaves it when a call says that it is of no use any more, and finds
 * the next. Every promise that is made here is awaited here.
 */
export class Connection {
  readonly #settings: ConnectionSettings;
  readonly #discovery: Discovery;
  #node: Node | undefined;
  #round: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#discovery = new Discovery(settings);
  }

  /**
   * The node to call now. Waits for one until then at most.
   * @throws NoLeaderError no node leads; nothing was sent
   */
  async node(until: number): Promise<Node> {
    for (;;) {
      if (this.#closing.signal.aborted) throw new NoLeaderError('the event store is closed');
      if (this.#node) return this.#node;
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw new NoLeaderError('no node of the cluster says that it leads');
      this.#round ??= this.#find().finally(() => {
        this.#round = undefined;
      });
      await Promise.race([this.#round, delay(leftMs, undefined, { ref: false })]);
    }
  }

  /** Calls go elsewhere from now on: to the leader that the node named, or the node that leads then. */
  leave(node: Node, leader?: string): void {
    if (node === this.#node) {
      this.#node = undefined;
      if (leader !== undefined && !this.#closing.signal.aborted)
        this.#node = new Node(leader, this.#settings);
    }
    node.close();
  }

  close(): void {
    this.#closing.abort();
    this.#node?.close();
    this.#node = undefined;
  }

  async #find(): Promise<void> {
    const address = this.#settings.discover ? await this.#discovery.leader() : this.#settings.hosts[0];
    if (address !== undefined && !this.#closing.signal.aborted)
      this.#node ??= new Node(address, this.#settings);
    else
      await delay(PAUSE_BETWEEN_ROUNDS_MS, undefined, { signal: this.#closing.signal }).catch(
        () => undefined,
      );
  }
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/** How long a call may go on being tried, and what is between its tries. */
export class CallRetries {
  readonly until: number;
  readonly #connection: Connection;
  #failures = 0;

  constructor(connection: Connection, ms: number) {
    this.#connection = connection;
    this.until = performance.now() + ms;
  }

  get leftMs(): number {
    return Math.max(0, this.until - performance.now());
  }

  /** @throws NoLeaderError no node leads until then */
  node(): Promise<Node> {
    return this.#connection.node(this.until);
  }

  /**
   * Leaves a node that an error makes no use of. Where less than half of the time of a try was left for it, as behind others or at the end
   * of all tries, a silence says nothing of the node.
   */
  learn(node: Node, error: unknown, { ms, usual }: { readonly ms: number; readonly usual: number }): void {
    if (isSilence(error) && ms < usual / 2) return;
    if (isReasonToLeave(error)) this.#connection.leave(node, leaderNamedBy(error));
  }

  /** Waits a moment before the next try; false when there is no time for one. */
  async again(error: unknown): Promise<boolean> {
    if (error instanceof NoLeaderError) return false;
    const named = leaderNamedBy(error) !== undefined && this.#failures < 3;
    const most = backoff(++this.#failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    // Spread, so that all that failed together do not come back together.
    const waitMs = named ? 0 : most * (0.5 + Math.random() / 2);
    if (waitMs >= this.leftMs) return false;
    await pause(waitMs);
    return true;
  }
}
