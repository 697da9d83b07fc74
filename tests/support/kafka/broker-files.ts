import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL('../../../node_modules/.cache/kafka/', import.meta.url));

const LOGGING = `log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d %p %m (%c)%n
log4j.logger.kafka.server.KafkaRaftServer=INFO
`;

/** Quick to start and small; C1 alone is enough for a broker that lives for a test. */
export const JAVA_FLAGS = [
  '-Xms128m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:-UsePerfData',
  '-XX:TieredStopAtLevel=1',
] as const;
/** For one of several brokers on a machine. */
export const SMALL_JAVA_FLAGS = [
  '-Xms64m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:-UsePerfData',
  '-XX:TieredStopAtLevel=1',
] as const;

export interface BrokerPorts {
  readonly broker: number;
  readonly controller: number;
  /** What clients are told to connect to; a proxy's port where one stands between. */
  readonly advertised: number;
}

/** A broker's place among those that it votes with; alone by default. */
export interface ClusterPlace {
  /** From 1. */
  readonly node: number;
  /** Of all nodes in their order. */
  readonly controllers: readonly number[];
}

export const serverProperties = (
  directory: string,
  ports: BrokerPorts,
  { node, controllers }: ClusterPlace = { node: 1, controllers: [ports.controller] },
): string =>
  Object.entries({
    'process.roles': 'broker,controller',
    'node.id': node,
    'controller.quorum.voters': controllers.map((port, n) => `${n + 1}@127.0.0.1:${port}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    listeners: `PLAINTEXT://127.0.0.1:${ports.broker},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${ports.advertised}`,
    'log.dirs': join(directory, 'logs'),
    'auto.create.topics.enable': false,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': controllers.length,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    // A broker that was killed is let in again without waiting for its own old session to end.
    'broker.session.timeout.ms': 3_000,
    // So long a broker waits for an active controller that is frozen, and a new producer for the id that only it can give.
    'controller.socket.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'log.cleaner.enable': false,
    'num.recovery.threads.per.data.dir': 2,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

const failure = (what: string, error: unknown): Error =>
  new Error(`${what}; the tests need Java 17 and Maven, or KAFKA_BROKERS: ${String(error)}`, {
    cause: error,
  });

/** Fills a directory beside its final place, so that two test processes that start at once do no harm to each other. */
const once = async (name: string, fill: (directory: string) => Promise<void>): Promise<string> => {
  const directory = join(cache, name);
  const complete = await readFile(join(directory, 'complete')).catch(() => undefined);
  if (complete) return directory;
  const draft = `${directory}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await fill(draft);
  await writeFile(join(draft, 'complete'), name);
  await rename(draft, directory).catch(() => rm(draft, { recursive: true, force: true }));
  return directory;
};

/** The broker's jars, fetched by Maven the first time. */
export const brokerJars = async (): Promise<string> => {
  const pom = join(here, 'pom.xml');
  const [, version = 'unknown'] =
    /kafka_2\.13<\/artifactId>\s*<version>([^<]+)/.exec(await readFile(pom, 'utf8')) ?? [];
  return once(`jars-${version}`, async (directory) => {
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${directory}`];
    const fetchJars = () => run('mvn', ['-B', '-q', '-f', pom, ...goal], { timeout: 300_000 });
    // A network that fails for a moment is no finding.
    await fetchJars()
      .catch(() => delay(15_000).then(fetchJars))
      .catch((error: unknown) => {
        throw failure('the jars of Kafka could not be fetched', error);
      });
    await writeFile(join(directory, 'log4j.properties'), LOGGING);
  });
};

/** A formatted log directory, made once and copied for every broker; all of them are of the same cluster. */
export const formattedLogs = async (jars: string, target: string, node = 1): Promise<void> => {
  const template = await once(`formatted-${jars.split('-').at(-1)}`, async (directory) => {
    const properties = join(directory, 'server.properties');
    await writeFile(properties, serverProperties(directory, { broker: 1, controller: 2, advertised: 1 }));
    const java = [...JAVA_FLAGS, '-cp', `${jars}/*:${jars}`, 'kafka.tools.StorageTool'];
    const { stdout } = await run('java', [...java, 'random-uuid']);
    await run('java', [...java, 'format', '-t', stdout.trim(), '-c', properties]).catch((error: unknown) => {
      throw failure('the directory of Kafka could not be formatted', error);
    });
  });
  await cp(join(template, 'logs'), join(target, 'logs'), { recursive: true });
  if (node === 1) return;
  const properties = join(target, 'logs', 'meta.properties');
  const text = await readFile(properties, 'utf8');
  const directoryId = `directory.id=${randomBytes(16).toString('base64url')}`;
  await writeFile(
    properties,
    text.replace(/^node\.id=.*$/m, `node.id=${node}`).replace(/^directory\.id=.*$/m, () => directoryId),
  );
};
