import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ApiClient } from './api-client.ts';
import type { ClientCredentials } from './api-client.ts';

/** A service as a process of its own ({@link ServiceProcess}), so that only its own work delays its answers. */
interface Neighbourhood {
  readonly baseUrl: string;
  readonly pid: number | undefined;
  createClient(fund: string): Promise<ClientCredentials>;
}

export interface NeighbourSettings {
  readonly url: string;
  readonly token: string;
  readonly servicePid: number;
  readonly everyMs: number;
}

export type NeighbourOrder = 'tell' | 'leave';

export interface Observation {
  readonly answers: number;
  /** The slowest answer, as a clock on the wall saw it. */
  readonly slowestMs: number;
  /** How much of it other work on this machine took: the service was ready to run and had no processor. */
  readonly excusedMs: number;
  /** Every answer that was not 200: its status, or the code of a broken connection. */
  readonly failures: readonly (number | string)[];
}

interface Disturbance {
  /** Right before the attack: what this machine gives now. */
  readonly calm: Observation;
  readonly attacked: Observation;
}

const EVERY_MS = 40;
const CALM_MS = 400;
const LATEST_MS = 300;

/**
 * Another application's client: it reads every 40 ms over a connection of its own, from a thread of its own, and notes how
 * long each answer took. Time that the service lost to other programs on the machine is told apart and does not count.
 */
export class Neighbour {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Moves in beside the service: with an application and a fund of its own, reading `path`. */
  static async of(service: Neighbourhood, path = '/loan?limit=1'): Promise<Neighbour> {
    const client = new ApiClient(service.baseUrl, await service.createClient(crypto.randomUUID()));
    if (service.pid === undefined) throw new Error('the service is not running');
    const settings: NeighbourSettings = {
      url: service.baseUrl + path,
      token: await client.token(),
      servicePid: service.pid,
      everyMs: EVERY_MS,
    };
    const worker = new Worker(new URL('./neighbour-worker.ts', import.meta.url), { workerData: settings });
    await once(worker, 'online');
    return new Neighbour(worker);
  }

  /** What it saw before and during the attack; the attack ends when its promise does. */
  async during(attack: () => Promise<unknown>): Promise<Disturbance> {
    await this.#tell();
    await new Promise((resolve) => setTimeout(resolve, CALM_MS));
    const calm = await this.#tell();
    await attack();
    return { calm, attacked: await this.#tell() };
  }

  /** @throws Error when an answer during the attack was later than 300 ms, or was none, or said anything but 200 */
  async livesThrough(attack: () => Promise<unknown>): Promise<Disturbance> {
    const disturbance = await this.during(attack);
    const { attacked } = disturbance;
    const late = attacked.slowestMs - attacked.excusedMs > LATEST_MS;
    if (late || attacked.failures.length > 0 || attacked.answers === 0)
      throw new Error(`the neighbour was disturbed: ${JSON.stringify(disturbance)}`);
    return disturbance;
  }

  async leave(): Promise<void> {
    const left = once(this.#worker, 'exit');
    this.#worker.postMessage('leave' satisfies NeighbourOrder);
    await left;
  }

  /** What it saw since the last time that it told. */
  async #tell(): Promise<Observation> {
    const told = once(this.#worker, 'message');
    this.#worker.postMessage('tell' satisfies NeighbourOrder);
    const [seen] = (await told) as [Observation];
    return seen;
  }
}
