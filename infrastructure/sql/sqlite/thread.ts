import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { ConstraintError, GuardFailedError } from '../sql-database.ts';
import type {
  Answers,
  Failure,
  FlatResults,
  FlatUnit,
  FromThread,
  ThreadSettings,
  ToThread,
} from './messages.ts';

export type SpawnThread = (settings: ThreadSettings) => Worker;

export const spawnThread: SpawnThread = (settings) =>
  new Worker(new URL('./thread-main.ts', import.meta.url), {
    workerData: settings,
    name: `sqlite ${settings.role}`,
  });

interface Pending {
  resolve(results: FlatResults): void;
  reject(error: Error): void;
}

const FIRST_RESTART_MS = 50;
const SLOWEST_RESTART_MS = 5_000;

const errorOf = (failure: Failure): Error => {
  switch (failure.kind) {
    case 'guard':
      return new GuardFailedError(failure.index, failure.changes);
    case 'constraint':
      return new ConstraintError(failure.message);
    case 'unavailable':
      return new StoreUnavailableError(failure.message);
    case 'error':
      return new Error(failure.message);
  }
};

/** The near side of one SQLite thread: numbers the calls, matches the answers, and starts another thread when one is lost. */
export class Thread {
  readonly #settings: ThreadSettings;
  readonly #spawn: SpawnThread;
  readonly #logger: Logger;
  readonly #pending = new Map<number, Pending>();
  readonly #closing = new AbortController();
  /** Undefined while there is none to call. */
  #worker: Worker | undefined;
  #outgoing: { ids: number[]; units: FlatUnit[] } | undefined;
  #calls = 0;
  #ended: Promise<void> = Promise.resolve();

  private constructor(settings: ThreadSettings, spawn: SpawnThread, logger: Logger) {
    this.#settings = settings;
    this.#spawn = spawn;
    this.#logger = logger;
  }

  static async open(settings: ThreadSettings, spawn: SpawnThread, logger: Logger): Promise<Thread> {
    const thread = new Thread(settings, spawn, logger);
    await thread.#start();
    return thread;
  }

  call(unit: FlatUnit): Promise<FlatResults> {
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) return reject(this.#unavailable('is closed'));
      if (!this.#worker) return reject(this.#unavailable('is starting again'));
      const id = ++this.#calls;
      this.#pending.set(id, { resolve, reject });
      // Calls of one turn of the event loop share a message, which is most of what a message costs.
      if (!this.#outgoing) {
        this.#outgoing = { ids: [], units: [] };
        queueMicrotask(() => this.#flush());
      }
      this.#outgoing.ids.push(id);
      this.#outgoing.units.push(unit);
    });
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#flush();
      this.#closing.abort();
      this.#post('close');
    }
    // A thread that was just starting again ends as well, after its start.
    for (let ended; ended !== this.#ended;) await (ended = this.#ended);
  }

  #flush(): void {
    const message = this.#outgoing;
    this.#outgoing = undefined;
    if (message) this.#post(message);
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  /** Resolves once the file is open. */
  async #start(): Promise<void> {
    const worker = this.#spawn(this.#settings);
    let cause: unknown;
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.on('error', (error) => {
      cause = error;
    });
    const opened = new Promise<void>((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if ('ids' in message) this.#settle(message);
        else if ('ready' in message) resolve();
        else reject(this.#unavailable(`cannot be opened: ${message.unopened}`));
      });
      void exited.then(() => reject(this.#unavailable(`ended while it opened: ${String(cause)}`)));
    });
    await opened;
    this.#worker = worker;
    this.#ended = exited.then(() => this.#lost(cause));
    if (this.#closing.signal.aborted) this.#post('close');
  }

  #settle({ ids, outcomes }: Answers): void {
    ids.forEach((id, index) => {
      const outcome = outcomes[index]!;
      const call = this.#pending.get(id);
      this.#pending.delete(id);
      if ('kind' in outcome) call?.reject(errorOf(outcome));
      else call?.resolve(outcome);
    });
  }

  /** After a wanted end nothing is pending; after any other, nobody knows what became of the writes under way. */
  #lost(cause: unknown): void {
    this.#worker = undefined;
    this.#outgoing = undefined;
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) call.reject(this.#lostError(cause));
    if (this.#closing.signal.aborted) return;
    this.#logger.error({ ...this.#named(), error: String(cause), calls: calls.length }, 'SQLite thread lost');
    this.#ended = this.#restart();
  }

  #lostError(cause: unknown): Error {
    const text = `${this.#describe('was lost')}: ${String(cause)}`;
    return this.#settings.role === 'writer' ? new OutcomeUnknownError(text) : new StoreUnavailableError(text);
  }

  async #restart(): Promise<void> {
    for (let delay = FIRST_RESTART_MS; ; delay = Math.min(2 * delay, SLOWEST_RESTART_MS)) {
      try {
        await sleep(delay, undefined, { signal: this.#closing.signal });
      } catch {
        return;
      }
      try {
        await this.#start();
        this.#logger.info(this.#named(), 'SQLite thread started again');
        return;
      } catch (error) {
        this.#logger.error({ ...this.#named(), error: String(error) }, 'SQLite thread did not start');
      }
    }
  }

  #named(): { database: string; role: string } {
    return { database: this.#settings.path, role: this.#settings.role };
  }

  #describe(state: string): string {
    return `SQLite ${this.#settings.role} of ${this.#settings.path} ${state}`;
  }

  #unavailable(state: string): StoreUnavailableError {
    return new StoreUnavailableError(this.#describe(state));
  }
}
