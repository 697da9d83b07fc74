import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kafkaClient, withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import { letGo } from '../let-go.ts';
import { RecordingLogger } from '../recording-logger.ts';
import { freePort } from '../service-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { JAVA_FLAGS, SMALL_JAVA_FLAGS, brokerJars, formattedLogs, serverProperties } from './broker-files.ts';
import type { BrokerPorts, ClusterPlace } from './broker-files.ts';

const START_MS = 200_000;

/** A real broker of its own on loopback ports; ends with this process at the latest. */
export class KafkaBroker {
  readonly ports: BrokerPorts;
  readonly #place: ClusterPlace | undefined;
  readonly #jars: string;
  readonly #directory: string;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(ports: BrokerPorts, jars: string, directory: string, place?: ClusterPlace) {
    this.ports = ports;
    this.#place = place;
    this.#jars = jars;
    this.#directory = directory;
  }

  /**
   * @param advertisedPort where clients find it; choose the port of a proxy that leads to `ports.broker`
   * @param ownPort where it listens; given where that proxy runs already
   */
  static async start(advertisedPort?: number, ownPort?: number, among = tmpdir()): Promise<KafkaBroker> {
    const jars = await brokerJars();
    const directory = temporaryDirectory(among);
    await formattedLogs(jars, directory);
    const [port, controller] = [ownPort ?? (await freePort()), await freePort()];
    const ports = { broker: port, controller, advertised: advertisedPort ?? port };
    const broker = new KafkaBroker(ports, jars, directory);
    await broker.start().catch(async (error: unknown) => {
      await broker.kill();
      throw error;
    });
    return broker;
  }

  /** One that this process does not wait for, nor anybody closes: for all files of tests that run in it. */
  static async forThisProcess(): Promise<KafkaBroker> {
    const broker = await KafkaBroker.start(undefined, undefined, process.env['TESTS_TMPDIR']);
    letGo(broker.#child!);
    return broker;
  }

  /** One of several, not started yet: a node alone has no majority, so all of them are started together. */
  static async ofCluster(place: ClusterPlace): Promise<KafkaBroker> {
    const jars = await brokerJars();
    const directory = temporaryDirectory();
    await formattedLogs(jars, directory, place.node);
    const port = await freePort();
    const ports = { broker: port, controller: place.controllers[place.node - 1]!, advertised: port };
    return new KafkaBroker(ports, jars, directory, place);
  }

  /** Bootstrap address as clients should use it. */
  get brokers(): string {
    return `127.0.0.1:${this.ports.advertised}`;
  }

  /** Starts it (again) on the same ports and directory; resolves when it answers. */
  async start(): Promise<void> {
    const properties = join(this.#directory, 'server.properties');
    await writeFile(properties, serverProperties(this.#directory, this.ports, this.#place));
    const flags = this.#place ? SMALL_JAVA_FLAGS : JAVA_FLAGS;
    const place = `-Djava.io.tmpdir=${this.#directory}`;
    const arguments_ = [...flags, place, '-cp', `${this.#jars}/*:${this.#jars}`, 'kafka.Kafka', properties];
    const child = spawn('java', arguments_, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TMPDIR: this.#directory },
    });
    this.#child = child;
    const collect = (chunk: Buffer): void =>
      void (this.#output = (this.#output + chunk.toString()).slice(-20_000));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const deadline = Date.now() + START_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the broker ended: ${this.#output}`);
      if (Date.now() > deadline) throw new Error(`the broker did not answer: ${this.#output}`);
      await delay(50);
    }
  }

  /** Asks the broker itself, whatever the proxy does. */
  async #answers(): Promise<boolean> {
    if (!this.#output.includes('Kafka Server started')) return false;
    const brokers = [`127.0.0.1:${this.ports.broker}`];
    const kafka = kafkaClient({ brokers, clientId: 'is-it-there', logger: new RecordingLogger() });
    return withAdmin(kafka, async () => undefined).then(
      () => true,
      () => false,
    );
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** As an operator would. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** The process stands still and its connections stay open, as in a machine that swaps or a paused virtual one. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#output = '';
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
