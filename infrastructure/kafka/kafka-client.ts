import type { ConnectionOptions } from 'node:tls';
import kafkajs, { Kafka, logLevel } from 'kafkajs';
import type {
  Admin,
  AdminConfig,
  Consumer,
  ConsumerConfig,
  KafkaConfig,
  Producer,
  ProducerConfig,
  RequestQueueSizeEvent,
  SASLOptions,
  ISocketFactory,
} from 'kafkajs';
import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import type { Logger } from '../../application/ports/logger.ts';
import { retry } from '../../application/support/retry.ts';
import { pause, within } from '../support/time.ts';
import { readEveryCompression } from './compression.ts';

const KEEP_ALIVE_MS = 60_000;
const QUIET_AFTER_MS = 20;
/** Longer than brokers hold requests back. */
const LEFT_ALONE_MS = 60_000;

const opened = ({ host, port, ssl, onConnect }: Parameters<ISocketFactory>[0]): Socket => {
  if (!ssl) return connect({ host, port }, onConnect);
  const servername = isIP(host) ? {} : { servername: host };
  return connectSecurely({ host, port, ...servername, ...ssl }, onConnect);
};

/** Of an answer: how many bytes follow. */
const LENGTH_BYTES = 4;

/**
 * Hands answers on as wholes. kafkajs 2.2.4 keeps what has come of an answer when its connection is lost, and takes what the next
 * connection brings for the rest of it: an error in the middle of a socket's data, which ends the process (tulios/kafkajs#715).
 */
const inWholes = (socket: Socket): Socket => {
  const push = socket.push.bind(socket);
  let held: Buffer[] = [];
  let bytes = 0;
  let wanted = LENGTH_BYTES;
  socket.push = (piece: Buffer | null): boolean => {
    if (piece === null) return push(piece);
    held.push(piece);
    bytes += piece.length;
    if (bytes < wanted) return true;
    const all = held.length === 1 ? piece : Buffer.concat(held, bytes);
    let whole = 0;
    for (wanted = lengthAt(all, 0); wanted <= all.length - whole; wanted = lengthAt(all, whole))
      whole += wanted;
    const rest = all.subarray(whole);
    held = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
    return whole === 0 || push(all.subarray(0, whole));
  };
  return socket;
};

/** Of the answer that begins there, with what tells it; a length below zero, which no broker tells, is none. */
const lengthAt = (bytes: Buffer, at: number): number =>
  bytes.length - at < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + Math.max(0, bytes.readInt32BE(at));

/**
 * Connections that cost nothing while nothing comes. In kafkajs 2.2.4 each answer starts a timer that looks for waiting requests every
 * millisecond from then on (tulios/kafkajs#1704, #1751). A connection that says once more that it is connected begins its timers anew,
 * without that one until the next answer. Where requests do wait, because a broker has asked for it, the timer is needed and stays.
 */
export class QuietSockets {
  readonly #waitedAt = new Map<string, number>();

  /** @param broker `host:port` */
  queued(broker: string, requests: number): void {
    if (requests > 0) this.#waitedAt.set(broker, performance.now());
  }

  readonly open: ISocketFactory = (options) => {
    const { host, port, onConnect } = options;
    const socket = inWholes(opened(options)).setKeepAlive(true, KEEP_ALIVE_MS);
    const calm = (): void => {
      const waitedAt = this.#waitedAt.get(`${host}:${port}`) ?? -Infinity;
      if (socket.writable && performance.now() - waitedAt > LEFT_ALONE_MS) onConnect();
    };
    let quiet: NodeJS.Timeout | undefined;
    socket.on('data', () => {
      quiet = quiet?.refresh() ?? setTimeout(calm, QUIET_AFTER_MS).unref();
    });
    socket.on('close', () => clearTimeout(quiet));
    return socket;
  };
}

export interface KafkaConnection {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[];
  /** Name of this process in the broker's logs and quotas. */
  readonly clientId: string;
  readonly tls?: boolean | ConnectionOptions;
  readonly sasl?: Extract<SASLOptions, { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }>;
  readonly logger: Logger;
}

/** Few and quick: what lasts longer is repeated by us, with a clear line in the log and from a known place. */
export const RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2, retries: 4 };
const CONNECT_MS = 3_000;
/** Many times what a broker that works needs; a frozen one is left after it. */
const REQUEST_MS = 5_000;
/** For a client to find a broker that answers. The library asks a frozen one again and again; the next client begins at another. */
export const CONNECT_WITHIN_MS = 6_000;

/** The library's own lines tell of every retry: they are for looking closely. What matters is logged where it is decided. */
const logTo = (logger: Logger) => () => (entry: { namespace: string; log: { message: string } }) => {
  const { message, ...fields } = entry.log as { message: string } & Readonly<Record<string, unknown>>;
  logger.debug({ source: `kafkajs ${entry.namespace}`, detail: fields }, message);
};

/**
 * Where clients begin: at the broker that answered last, and where none has answered, at one after the other. One that was begun at
 * comes last until it answers. Given a list, the library begins every client at its first broker, and stays there when that one takes
 * connections and answers nothing, as a frozen one does.
 */
export class FirstBrokers {
  #addresses: readonly string[];

  /** @param addresses `host:port`, at least one */
  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  next(): string {
    const [first, ...others] = this.#addresses;
    this.#addresses = [...others, first!];
    return first!;
  }

  /** @param address one that is not in the list is passed over: brokers may tell other addresses than clients were given */
  answered(address: string): void {
    if (this.#addresses[0] === address || !this.#addresses.includes(address)) return;
    this.#addresses = [address, ...this.#addresses.filter((other) => other !== address)];
  }
}

interface Watched {
  readonly events: { readonly REQUEST: string; readonly REQUEST_QUEUE_SIZE: string };
  on(name: string, told: (event: RequestQueueSizeEvent) => void): unknown;
}

/** Its clients tell each other which broker answered last. */
class SharingKafka extends Kafka {
  readonly #first: FirstBrokers;
  readonly #sockets: QuietSockets;

  constructor(first: FirstBrokers, config: Omit<KafkaConfig, 'brokers'>) {
    const sockets = new QuietSockets();
    super({ ...config, brokers: () => [first.next()], socketFactory: sockets.open });
    this.#first = first;
    this.#sockets = sockets;
  }

  override admin(config?: AdminConfig): Admin {
    return this.#watched(super.admin(config));
  }

  override producer(config?: ProducerConfig): Producer {
    return this.#watched(super.producer(config));
  }

  override consumer(config: ConsumerConfig): Consumer {
    return this.#watched(super.consumer(config));
  }

  #watched<Client extends Watched>(client: Client): Client {
    client.on(client.events.REQUEST, ({ payload }) => this.#first.answered(payload.broker));
    client.on(client.events.REQUEST_QUEUE_SIZE, ({ payload: { broker, queueSize } }) =>
      this.#sockets.queued(broker, queueSize),
    );
    return client;
  }
}

export const kafkaClient = ({ brokers, clientId, tls, sasl, logger }: KafkaConnection): Kafka => {
  readEveryCompression(logger);
  return new SharingKafka(new FirstBrokers(brokers), {
    clientId,
    ...(tls !== undefined && { ssl: tls }),
    ...(sasl && { sasl }),
    connectionTimeout: CONNECT_MS,
    authenticationTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.INFO,
    logCreator: logTo(logger),
  });
};

/** For the rare questions to the cluster; a connection that stays open would have to be watched. */
export const withAdmin = async <Answer>(
  kafka: Kafka,
  ask: (admin: Admin) => Promise<Answer>,
): Promise<Answer> => {
  const admin = kafka.admin();
  try {
    await within(CONNECT_WITHIN_MS, 'connecting to Kafka', admin.connect());
    return await ask(admin);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
};

export interface Watermarks {
  /** Offset of the oldest message that is still there. */
  readonly low: number;
  /** Offset that the next message will get. */
  readonly high: number;
}

/** Messages that wait for whoever has come to these offsets of the partitions; what has expired waits no more. */
export const waitingBehind = (
  marks: ReadonlyMap<number, Watermarks>,
  stored: ReadonlyMap<number, number>,
): number =>
  [...marks].reduce(
    (sum, [partition, { low, high }]) =>
      sum + Math.max(0, high - Math.max(low, stored.get(partition) ?? low)),
    0,
  );

export const isAnswer = (error: unknown, type: string): boolean =>
  error instanceof kafkajs.KafkaJSProtocolError && error.type === type;

/** By its mark: the library's error classes are no named exports for an ES module. */
const isRetriable = (error: unknown): boolean =>
  error instanceof Error && 'retriable' in error && error.retriable === true;

/** A partition that was just made, or changes its leader, is not known everywhere for a moment; each question reads the map anew. */
export const watermarks = async (kafka: Kafka, topic: string): Promise<ReadonlyMap<number, Watermarks>> => {
  const ask = () => withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic));
  const offsets = await retry(ask, { pausesMs: [100, 100, 100], mayPass: isRetriable }, pause);
  return new Map(
    offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]),
  );
};
