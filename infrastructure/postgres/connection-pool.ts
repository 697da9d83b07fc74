import { Pool } from 'pg';
import type { ClientBase, PoolClient } from 'pg';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { Batch, BatchFailure, PreparedStatements } from './batch.ts';
import type { BatchResult, BatchStatement } from './batch.ts';
import { isSpoilt } from './failures.ts';

export interface PoolSettings {
  /** `postgres://…`; TLS by its `sslmode`. */
  readonly url: string;
  readonly logger: Logger;
  readonly applicationName: string;
  /** Where its tables are; default: where the server looks for those of this user. */
  readonly schema?: string;
  /** Connections at most. */
  readonly poolSize: number;
  /** Calls that may wait for a connection. */
  readonly maxWaiting: number;
  /** How long a call waits for a connection, and a connection for the server. */
  readonly connectTimeoutMs: number;
  /** How long the server works on one statement, waiting for locks included. */
  readonly statementTimeoutMs: number;
  /** How much longer an answer may take than the server's own limit, before the connection counts as lost. */
  readonly wireTimeoutMs: number;
}

const IDLE_MS = 30_000;
const KEEP_ALIVE_MS = 10_000;
/** Locks of a process that vanished in the middle are let go after this. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/**
 * What the server's own settings must not change: transactions see what was committed before each of their statements, and are
 * on the disk when they are answered. Compiling plans to machine code never pays for statements this short.
 */
const SESSION = `
  set default_transaction_isolation = 'read committed';
  set jit = off;
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

const reasonOf = (error: unknown): string => {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || code || String(error);
};

const after = (ms: number, act: () => void): (() => void) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** Connections to one server: a bounded number, each waited for a bounded time, replaced when lost. */
export class ConnectionPool {
  readonly #pool: Pool;
  readonly #settings: PoolSettings;
  readonly #prepared = new WeakMap<PoolClient, PreparedStatements>();
  #away = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    this.#pool = new Pool({
      connectionString: settings.url,
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
    this.#pool.on('error', (error) => this.#lost(error));
    // A connection that breaks while it is in use tells its batch; without a listener it would end the process as well.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * One batch on one connection. `transaction`: it begins one by itself, which a failure would leave open.
   * @throws StoreUnavailableError when there is no connection for it @throws BatchFailure
   */
  async run(
    statements: readonly BatchStatement[],
    { transaction = false } = {},
  ): Promise<readonly BatchResult[]> {
    const client = await this.#acquire();
    const known = this.#prepared.get(client) ?? new PreparedStatements();
    this.#prepared.set(client, known);
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
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #acquire(): Promise<PoolClient> {
    if (this.#pool.waitingCount >= this.#settings.maxWaiting) {
      throw new StoreUnavailableError(`PostgreSQL: ${this.#settings.maxWaiting} calls wait for a connection`);
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      this.#lost(error);
      throw new StoreUnavailableError(`PostgreSQL: ${reasonOf(error)}`, { cause: error });
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
      await Promise.race([client.query(SESSION + path), late]);
    } finally {
      stop();
    }
  }

  /** Said once, however many calls notice. */
  #lost(error: unknown): void {
    if (this.#away) return;
    this.#away = true;
    this.#settings.logger.warn({ error: reasonOf(error) }, 'PostgreSQL connection lost');
  }

  #answered(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#settings.logger.info({}, 'PostgreSQL answers again');
  }
}
