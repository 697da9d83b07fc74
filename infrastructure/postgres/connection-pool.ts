import { Pool } from 'pg';
import type { ClientBase, PoolClient } from 'pg';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { Batch, BatchFailure, PreparedStatements, isReadOnly, isSpoilt } from './batch.ts';
import type { BatchResult, BatchStatement } from './batch.ts';
import { eachServer } from './addresses.ts';

interface Answer {
  /** Milliseconds since 1970, as the server printed it. */
  readonly now: string;
}

interface Clocks {
  /** Milliseconds that nothing moves back. */
  readonly steady: () => number;
  /** Milliseconds since 1970 by this machine. */
  readonly wall: () => number;
}

const OWN: Clocks = { steady: () => performance.now(), wall: () => Date.now() };

/** An answer that took longer says too little about when the server looked at its clock, as long as there is a better one. */
const PROMPT_MS = 250;
/** Until then what was known stays better than what a slow answer says: clocks that only go on drift apart by milliseconds. */
const BETTER_FOR_MS = 300_000;
/** The machine was asleep: the steady clock of some systems stands still meanwhile. */
const ASLEEP_MS = 1_000;
const GOOD_FOR_MS = 10_000;
const SLOW_GOOD_FOR_MS = 1_000;

interface Measured {
  readonly steady: number;
  readonly wall: number;
  readonly server: number;
  readonly tookMs: number;
}

/**
 * The time of a database server, known in this process without asking each time: processes whose own clocks disagree tell the same
 * time by it, within half of what an answer takes. Before the first answer it is the machine's own.
 */
export class ServerClock {
  readonly #clocks: Clocks;
  #measured: Measured | undefined;

  constructor(clocks: Clocks = OWN) {
    this.#clocks = clocks;
  }

  /** UNIX milliseconds. */
  now(): number {
    const last = this.#measured;
    if (!last) return this.#clocks.wall();
    // After a sleep leases count as ended, until the server has been asked again.
    return Math.round(last.server + this.#clocks.steady() - last.steady + this.#sleptMs());
  }

  /** Whether the server should be asked again. */
  get due(): boolean {
    const last = this.#measured;
    if (!last || this.#sleptMs() > 0) return true;
    const goodForMs = last.tookMs > PROMPT_MS ? SLOW_GOOD_FOR_MS : GOOD_FOR_MS;
    return this.#clocks.steady() - last.steady > goodForMs;
  }

  #isBest(tookMs: number, steady: number): boolean {
    const last = this.#measured;
    if (!last || tookMs <= Math.max(PROMPT_MS, last.tookMs)) return true;
    return steady - last.steady > BETTER_FOR_MS || this.#sleptMs() > 0;
  }

  #sleptMs(): number {
    const last = this.#measured!;
    const slept = this.#clocks.wall() - last.wall - (this.#clocks.steady() - last.steady);
    return slept > ASLEEP_MS ? slept : 0;
  }

  /** Asks, and learns the time from the answer. */
  async measure<Row extends Answer>(ask: () => Promise<Row>): Promise<Row> {
    const asked = this.#clocks.steady();
    const answer = await ask();
    const steady = this.#clocks.steady();
    const tookMs = steady - asked;
    if (this.#isBest(tookMs, steady))
      this.#measured = { steady, wall: this.#clocks.wall(), server: Number(answer.now) + tookMs / 2, tookMs };
    return answer;
  }
}

const DEFAULTS = {
  applicationName: 'receivables',
  /** Connections at most. */
  poolSize: 10,
  /** Calls that may wait for a connection. */
  maxWaiting: 1_000,
  /** How long a call waits for a connection, and a connection for the server. */
  connectTimeoutMs: 5_000,
  /** How long the server works on one statement, waiting for locks included. */
  statementTimeoutMs: 15_000,
  /** How much longer an answer may take than the server's own limit, before the connection counts as lost. */
  wireTimeoutMs: 5_000,
};

export interface PoolOptions extends Partial<Readonly<typeof DEFAULTS>> {
  /** `postgres://…`; TLS by its `sslmode`. With several hosts, whichever of them takes writes. */
  readonly url: string;
  readonly logger: Logger;
  /** Where its tables are; default: where the server looks for those of this user. */
  readonly schema?: string;
}

const IDLE_MS = 30_000;
const KEEP_ALIVE_MS = 10_000;
/** Locks of a process that vanished in the middle are let go after this. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/**
 * What the server's own settings must not change: transactions see what was committed before each of their statements, and are
 * on the disk, and on a synchronous standby where there is one, when they are answered. Compiling plans to machine code never pays for statements this short.
 */
const SESSION = `
  set default_transaction_isolation = 'read committed';
  set jit = off;
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')`;

const STATE = `
  select pg_is_in_recovery() as standby, floor(extract(epoch from clock_timestamp()) * 1000) as now`;

const after = (ms: number, act: () => void): (() => void) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

const STANDBY = 'the server is a standby, which takes no writes';

/** Connections to the server that takes writes: a bounded number, each waited for a bounded time, replaced when lost. */
export class ConnectionPool {
  /** The time of that server. */
  readonly clock = new ServerClock();
  readonly #settings: PoolOptions & typeof DEFAULTS;
  readonly #servers: readonly string[];
  readonly #prepared = new WeakMap<PoolClient, PreparedStatements>();
  /** Of servers that were left; they end when the last call has let go of them. */
  readonly #left = new Set<Pool>();
  #at = 0;
  #pool: Pool;
  #away = false;

  constructor(options: PoolOptions) {
    this.#settings = { ...DEFAULTS, ...options };
    this.#servers = eachServer(options.url);
    this.#pool = this.#open();
  }

  /**
   * One batch on one connection. `transaction`: it begins one by itself, which a failure would leave open. `anew`: nothing that the
   * connection has prepared is used.
   * @throws StoreUnavailableError when there is no connection for it @throws BatchFailure
   */
  async run(
    statements: readonly BatchStatement[],
    { transaction = false, anew = false } = {},
  ): Promise<readonly BatchResult[]> {
    const { client, pool } = await this.#acquire();
    const known = this.#prepared.get(client) ?? new PreparedStatements();
    this.#prepared.set(client, known);
    if (anew) for (const { text } of statements) known.drop(text);
    const batch = new Batch(statements, known);
    const limit = this.#settings.statementTimeoutMs + this.#settings.wireTimeoutMs;
    const stop = after(limit, () => batch.handleError(new Error(`no answer within ${limit} ms`)));
    let failure: unknown;
    try {
      client.query(batch);
      const results = await batch.done;
      this.#answered();
      return results;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      stop();
      // Told so, the pool closes the connection instead of keeping it.
      client.release(isSpoilt(failure) || (transaction && failure !== undefined));
      if (failure instanceof BatchFailure && failure.kind !== 'refused') this.#lost(failure);
      // What is idle leads to the same server.
      if (isReadOnly(failure)) this.#leave(pool);
    }
  }

  async close(): Promise<void> {
    const pools = [this.#pool, ...this.#left];
    this.#left.clear();
    await Promise.all(pools.map((pool) => pool.end()));
  }

  #open(): Pool {
    const settings = this.#settings;
    const pool = new Pool({
      connectionString: this.#servers[this.#at]!,
      application_name: settings.applicationName,
      max: settings.poolSize,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      idleTimeoutMillis: IDLE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      statement_timeout: settings.statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      verify: (client, done) => void this.#prepareSession(client).then(() => done(), done),
    });
    pool.on('error', (error) => this.#lost(error));
    // A connection that breaks while it is in use tells its batch; without a listener it would end the process as well.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  }

  /** From now on calls use the next server; with one only, new connections to what its name leads to then. */
  #leave(pool: Pool): void {
    if (pool !== this.#pool) return;
    this.#at = (this.#at + 1) % this.#servers.length;
    this.#pool = this.#open();
    this.#left.add(pool);
    this.#endLeft(pool);
  }

  /** A pool that ends forgets those that wait for a connection, so they have to be through. */
  #endLeft(pool: Pool): void {
    if (pool.waitingCount === 0 && this.#left.delete(pool)) void pool.end();
  }

  async #acquire(): Promise<{ readonly client: PoolClient; readonly pool: Pool }> {
    if (this.#pool.waitingCount >= this.#settings.maxWaiting) {
      throw new StoreUnavailableError(`PostgreSQL: ${this.#settings.maxWaiting} calls wait for a connection`);
    }
    // Each server once, and those again that were found while another call had moved on already.
    for (let tries = 2 * this.#servers.length - 1; ; tries--) {
      const pool = this.#pool;
      try {
        return { client: await pool.connect(), pool };
      } catch (error) {
        this.#endLeft(pool);
        const moved = pool !== this.#pool;
        if (!moved && this.#servers.length > 1) this.#leave(pool);
        if (tries > 1 || (moved && tries > 0)) continue;
        this.#lost(error);
        throw new StoreUnavailableError(`PostgreSQL: ${messageOf(error)}`, { cause: error });
      }
    }
  }

  async #prepareSession(client: ClientBase): Promise<void> {
    const limit = this.#settings.connectTimeoutMs;
    let stop = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      stop = after(limit, () => reject(new Error(`no answer within ${limit} ms`)));
    });
    try {
      const { schema } = this.#settings;
      const path = schema === undefined ? '' : `; set search_path to ${client.escapeIdentifier(schema)}`;
      const session = client.query(SESSION + path).then(async () => {
        const { standby } = await this.clock.measure(async () => {
          const { rows } = await client.query<{ standby: boolean; now: string }>(STATE);
          return rows[0]!;
        });
        if (standby) throw new Error(STANDBY);
      });
      await Promise.race([session, late]);
    } finally {
      stop();
    }
  }

  /** Said once, however many calls notice. */
  #lost(error: unknown): void {
    if (this.#away) return;
    this.#away = true;
    this.#settings.logger.warn({ error: messageOf(error) }, 'PostgreSQL connection lost');
  }

  #answered(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#settings.logger.info({}, 'PostgreSQL answers again');
  }
}
