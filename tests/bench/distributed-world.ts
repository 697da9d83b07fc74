import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { loanRequest, settlement } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { KafkaBroker } from '../support/kafka/kafka-broker.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { load } from './load.ts';
import type { Load, Request } from './load.ts';
import { pause, startReceiver } from './webhook-bench-world.ts';
import type { Receiver } from './webhook-bench-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

export const OPERATIONS = Number(process.env['BENCH_OPERATIONS'] ?? 400);
export const INSTALLMENTS = Number(process.env['BENCH_INSTALLMENTS'] ?? 60);
/** Whether the statements of PostgreSQL are counted, which costs it something itself. */
export const COUNTED = process.env['BENCH_STATEMENTS'] !== undefined;
const CONNECTIONS = 32;
/** More than any machine that this was run on settles in a second. */
const MOST_PER_SECOND = Number(process.env['BENCH_MOST_PER_SECOND'] ?? 6_000);

/** A service under load, on whatever engines. */
export class Loaded {
  readonly name: string;
  readonly receiver: Receiver;
  readonly #waiting: () => Promise<number>;
  readonly #settlements: Request[] = [];
  #kept: Request[] = [];
  #operations = 0;
  #baseUrl: string;
  #api: ApiClient;
  #hook = '';

  private constructor(parts: {
    readonly name: string;
    readonly receiver: Receiver;
    readonly baseUrl: string;
    readonly api: ApiClient;
    readonly waiting: () => Promise<number>;
  }) {
    this.name = parts.name;
    this.receiver = parts.receiver;
    this.#baseUrl = parts.baseUrl;
    this.#api = parts.api;
    this.#waiting = parts.waiting;
  }

  /** Assigns the operations whose installments are settled later. */
  static async prepare(
    name: string,
    service: ServiceProcess,
    { receiver, waiting }: { readonly receiver: Receiver; readonly waiting: () => Promise<number> },
  ): Promise<Loaded> {
    const api = await service.client();
    const loaded = new Loaded({ name, receiver, baseUrl: service.baseUrl, api, waiting });
    loaded.#settlements.push(...(await loaded.#assign(OPERATIONS)));
    return loaded;
  }

  /** Answers the settlements of all their installments, the first ones of all operations before the second ones. */
  async #assign(operations: number): Promise<readonly Request[]> {
    const api = this.#api;
    const codes = Array.from({ length: operations }, () => `B-${this.#operations++}`);
    const left = codes.values();
    const assign = async (): Promise<void> => {
      for (const code of left) {
        const { status } = await api.assign(loanRequest(api.fund, code, INSTALLMENTS));
        if (status !== 201) throw new Error(`assignment: ${status}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, assign));
    for (const code of codes) await api.untilStatus(code, 'active', 120_000);
    const headers = { authorization: `Bearer ${await api.token()}`, 'content-type': 'application/json' };
    return Array.from({ length: INSTALLMENTS }, (_, i) => String(i + 1).padStart(3, '0')).flatMap(
      (installment) =>
        codes.map((code) => ({
          ...{ path: '/installment/settle', headers },
          body: JSON.stringify(settlement(code, installment, 950)),
        })),
    );
  }

  /** So many settlements of installments that are still open. */
  async ensure(settlements: number): Promise<void> {
    const missing = settlements - this.#settlements.length;
    if (missing > 0) this.#settlements.push(...(await this.#assign(Math.ceil(missing / INSTALLMENTS))));
  }

  /** So many new operations, of which one settlement each is kept: a process that starts later has seen none of them. */
  async keepBack(operations: number): Promise<void> {
    this.#kept = (await this.#assign(operations)).slice(0, operations);
  }

  /** One settlement of each operation that was kept back. */
  settleKept(): Promise<Load> {
    const options = { connections: CONNECTIONS, seconds: 600, status: 200 };
    return load(this.#baseUrl, () => this.#kept.pop(), options);
  }

  /** As fast as it goes. */
  async settle(seconds: number): Promise<Load> {
    await this.ensure(seconds * MOST_PER_SECOND);
    const options = { connections: CONNECTIONS, seconds, status: 200 };
    return load(this.#baseUrl, () => this.#settlements.pop(), options);
  }

  /** As many, as fast as it goes. */
  async settleSome(count: number): Promise<Load> {
    await this.ensure(count);
    const some = this.#settlements.splice(-count);
    const options = { connections: CONNECTIONS, seconds: 600, status: 200 };
    return load(this.#baseUrl, () => some.pop(), options);
  }

  /** From now on every settlement is announced. */
  async subscribe(): Promise<void> {
    const hook = { url: `${this.receiver.origin}/arrivals`, events: ['installment_settled'] };
    const { status, body } = await this.#api.call('POST', '/webhook', hook);
    if (status !== 200) throw new Error(`webhook: ${status}`);
    this.#hook = body.webhook_id as string;
  }

  /** Deliveries a second while so many wait: nothing but the delivery engine works. */
  async drain(count: number): Promise<number> {
    await this.#api.call('POST', `/webhook/${this.#hook}/pause`);
    await this.settleSome(count);
    while ((await this.#waiting()) < count) await pause(100);
    await this.receiver.arrivals();
    await this.#api.call('POST', `/webhook/${this.#hook}/resume`);
    const times: number[] = [];
    while (times.length < count) {
      await pause(100);
      times.push(...(await this.receiver.arrivals()).map(({ at }) => at));
    }
    times.sort((a, b) => a - b);
    return ((count - 1) / (times.at(-1)! - times[0]!)) * 1_000;
  }

  /** Waits until so many have arrived. */
  async arrived(count: number): Promise<void> {
    for (let seen = 0; seen < count;) {
      await pause(100);
      seen += (await this.receiver.arrivals()).length;
    }
  }

  at(service: ServiceProcess): void {
    this.#baseUrl = service.baseUrl;
  }
}

const common = (receiver: Receiver) => ({
  SANDBOX_STEP: '1ms',
  LOG_LEVEL: 'error',
  ...trusting(receiver),
});

const PRELOAD = new URL('./profile-preload.mjs', import.meta.url).href;

/** Both profiles side by side, their engines directly reached, everything on this machine. */
export const openWorld = async () => {
  const directory = temporaryDirectory();
  const closing: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).reverse()) await one();
  };
  try {
    const receiver = await startReceiver();
    closing.push(() => receiver.stop());
    const postgres = await PostgresServer.start({ durable: true, counting: COUNTED });
    closing.push(() => postgres.crash());
    const kafka = await KafkaBroker.start();
    closing.push(() => kafka.kill());
    const given = process.env['EVENTSTORE_URL'];
    const standIn = given === undefined ? await StandInProcess.start(join(directory, 'log')) : undefined;
    closing.push(() => standIn?.kill());
    // As clients see all processes: a token of one is good at the others.
    const address = 'http://receivables.test';
    const environment = {
      ...common(receiver),
      ...{ PUBLIC_URL: address, AUTH_URL: address },
      DATABASE_URL: postgres.url,
      KAFKA_BROKERS: kafka.brokers,
      EVENTSTORE_URL: given ?? standIn!.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
    };
    const start = async (
      folder: string,
      extra: Readonly<Record<string, string>>,
      flags: readonly string[] = [],
    ): Promise<ServiceProcess> => {
      const service = await ServiceProcess.start(join(directory, folder), extra, flags);
      closing.push(() => service.end('SIGTERM'));
      return service;
    };
    const embedded = await start('embedded', {
      ...common(receiver),
      ...{ EVENTSTORE_URL: '', DATABASE_URL: '', KAFKA_BROKERS: '' },
    });
    return {
      directory,
      receiver,
      embedded,
      postgres,
      standIn: standIn !== undefined,
      distributed: (roles: string) => start('distributed', { ...environment, ROLES: roles }),
      /** Takes profiles, as profile-preload.mjs says. */
      profiled: (roles: string, file: string) =>
        start('distributed', { ...environment, ROLES: roles, PROFILE_FILE: file }, ['--import', PRELOAD]),
      waiting: {
        embedded: async () => waitingInFile(join(directory, 'embedded', 'service.db')),
        distributed: () => inDatabase(postgres.url, WAITING),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const WAITING = `select count(*) as n from webhook_delivery where status = 'pending'`;

const waitingInFile = (path: string): number => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(db.prepare(WAITING).get()?.['n']);
  } finally {
    db.close();
  }
};

export const rowsInDatabase = async <Row extends object>(
  url: string,
  text: string,
): Promise<readonly Row[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Row>(text);
    return rows;
  } finally {
    await client.end();
  }
};

/** One number. */
export const inDatabase = async (url: string, text: string): Promise<number> => {
  const [row] = await rowsInDatabase<{ n: string }>(url, text);
  return Number(row?.n);
};
