import { randomBytes, randomUUID } from 'node:crypto';
import { StandInProcess } from '../eventstoredb/stand-in-process.ts';
import { KafkaBroker } from '../kafka/kafka-broker.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { throughPort } from '../postgres/test-postgres.ts';
import { freePort } from '../service-process.ts';
import { TcpProxy } from '../tcp-proxy.ts';

/** An engine that belongs to the test: it can be killed and started again, and its connections can be cut. */
export interface Engine {
  /** As a power cut would. */
  kill(): Promise<void>;
  /** (Again), on the same data; resolves when it answers. */
  start(): Promise<void>;
  /** Between the service and the engine. */
  readonly proxy: TcpProxy;
}

export const ENGINE_NAMES = ['eventStore', 'kafka', 'database'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/**
 * A real PostgreSQL server, a real Kafka broker and the stand-in for EventStoreDB, each a process of its own behind a proxy. Where
 * EVENTSTORE_URL names a real EventStoreDB, that one is used instead: without TLS behind a proxy that lets it seem dead, else untouched.
 */
export class Engines {
  readonly engines: Readonly<Record<EngineName, Engine | undefined>>;
  /** What a service process needs to know to run on them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #closing: readonly (() => Promise<void>)[];

  private constructor(parts: {
    engines: Readonly<Record<EngineName, Engine | undefined>>;
    environment: Readonly<Record<string, string>>;
    closing: readonly (() => Promise<void>)[];
  }) {
    this.engines = parts.engines;
    this.environment = parts.environment;
    this.#closing = parts.closing;
  }

  /** @param durable PostgreSQL waits for the disk, as in production */
  static async start({ durable = false } = {}): Promise<Engines> {
    const [database, kafka, eventStore] = await Promise.all([
      startDatabase(durable),
      startKafka(),
      startEventStore(),
    ]);
    return new Engines({
      engines: {
        database: database.engine,
        kafka: kafka.engine,
        eventStore: eventStore.engine,
      },
      environment: {
        DATABASE_URL: database.address,
        KAFKA_BROKERS: kafka.address,
        KAFKA_TOPIC_PREFIX: `test-${randomUUID().slice(0, 8)}.`,
        EVENTSTORE_URL: eventStore.address,
        // The one that everything in these stores is sealed with.
        MASTER_KEY: randomBytes(32).toString('base64'),
      },
      closing: [database.close, kafka.close, eventStore.close],
    });
  }

  /** @throws Error for an engine that does not belong to the test */
  engine(name: EngineName): Engine {
    const engine = this.engines[name];
    if (!engine) throw new Error(`${name} was given from outside, so it is not the test's to kill`);
    return engine;
  }

  async close(): Promise<void> {
    await Promise.all(this.#closing.map((close) => close()));
  }
}

/** Of EventStoreDB. */
const DEFAULT_PORT = 2113;

interface Started {
  readonly address: string;
  readonly engine: Engine | undefined;
  readonly close: () => Promise<void>;
}

const startDatabase = async (durable: boolean): Promise<Started> => {
  const server = await PostgresServer.start({ durable });
  const proxy = await TcpProxy.start({ port: server.port });
  const engine = { proxy, kill: () => server.crash(), start: () => server.start() };
  const close = async (): Promise<void> => {
    await proxy.close();
    await server.crash();
  };
  return { address: throughPort(server.url, proxy.port), engine, close };
};

const startKafka = async (): Promise<Started> => {
  // The broker tells its clients where to find it, and is not ready before it finds itself there.
  const [port, ownPort] = [await freePort(), await freePort()];
  const proxy = await TcpProxy.start({ port: ownPort }, port);
  const broker = await KafkaBroker.start(port, ownPort);
  const engine = { proxy, kill: () => broker.kill(), start: () => broker.start() };
  const close = async (): Promise<void> => {
    await proxy.close();
    await broker.kill();
  };
  return { address: broker.brokers, engine, close };
};

/** A server from outside cannot be killed; to the service it dies all the same when nobody listens on its port any more. */
const behindProxy = async (given: string): Promise<Started> => {
  const url = new URL(given.replace(/^esdb:/, 'http:'));
  // A certificate names the server, not the proxy; and a cluster tells its own addresses.
  if (url.searchParams.get('tls') !== 'false' || url.host.includes(',')) {
    return { address: given, engine: undefined, close: () => Promise.resolve() };
  }
  const proxy = await TcpProxy.start({ host: url.hostname, port: Number(url.port || DEFAULT_PORT) });
  const engine = { proxy, kill: () => proxy.refuse(), start: () => proxy.pass() };
  const address = given.replace(url.host, `127.0.0.1:${proxy.port}`);
  return { address, engine, close: () => proxy.close() };
};

const startEventStore = async (): Promise<Started> => {
  const given = process.env['EVENTSTORE_URL'];
  if (given !== undefined) return behindProxy(given);
  const standIn = await StandInProcess.start();
  const proxy = await TcpProxy.start({ port: standIn.port });
  const engine = { proxy, kill: () => standIn.kill(), start: () => standIn.restart() };
  const close = async (): Promise<void> => {
    await proxy.close();
    await standIn.kill();
  };
  return { address: standIn.urlAt(proxy.port), engine, close };
};
