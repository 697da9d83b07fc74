import type { WorkerOptions } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../application/ports/logger.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { backoff, pause, unlessAborted } from './abortable.ts';
import type { Call, QueueLimits } from './call-queue.ts';
import { CallQueue, rejectAll } from './call-queue.ts';
import type { Cells, FromThread, ToThread } from './thread-protocol.ts';

export type CreateWorker = (entry: URL, options: WorkerOptions) => Worker;

export interface DatabaseThreadOptions {
  /** For messages: `event store writer`. */
  readonly name: string;
  readonly entry: URL;
  readonly data: object;
  /** What a request that was under way is told when the thread dies. */
  readonly lost: (why: string) => Error;
  /** When more than this waits, a request is refused at once. */
  readonly limits: QueueLimits;
  readonly createWorker: CreateWorker;
  readonly logger: Logger | undefined;
}

const GATHERING_TURNS = 4;
const MAX_BATCH = 1_000;
const FIRST_RESTART_MS = 50;
const LONGEST_RESTART_MS = 5_000;
const STUCK_THREAD_MS = 500;

export const createNodeWorker: CreateWorker = (entry, options) => new Worker(entry, options);

/**
 * A thread that owns a database connection. Requests that arrive while it is busy travel together once it is free. When it dies,
 * it is started again; what had been handed to it is lost, what still waited here is not.
 */
export class DatabaseThread {
  readonly #options: DatabaseThreadOptions;
  readonly #stopping = new AbortController();
  #worker: Worker | undefined;
  #ready = false;
  #exited: Promise<void> = Promise.resolve();
  readonly #waiting: CallQueue;
  #inFlight: readonly Call[] = [];
  #sendScheduled = false;
  #setbacks = 0;
  #idle: (() => void) | undefined;

  private constructor(options: DatabaseThreadOptions) {
    this.#options = options;
    this.#waiting = new CallQueue(options.limits);
  }

  /** @throws StoreUnavailableError the database cannot be opened; the message says why */
  static async start(options: DatabaseThreadOptions): Promise<DatabaseThread> {
    const thread = new DatabaseThread(options);
    await thread.#spawn();
    return thread;
  }

  call(request: Cells, characters = 0): Promise<Cells> {
    const { name } = this.#options;
    if (this.#stopping.signal.aborted) return Promise.reject(new StoreUnavailableError(`${name} is closed`));
    if (this.#waiting.isFull)
      return Promise.reject(
        new StoreUnavailableError(`${name} is overloaded: ${this.#waiting.length} requests wait`),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.add({ request, characters, resolve, reject });
      this.#sendSoon();
    });
  }

  /** Accepts nothing more, finishes what waits, closes the database. After `graceMs` it stops waiting for a stuck disk. */
  async close(graceMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) return this.#exited;
    this.#stopping.abort();
    const deadline = AbortSignal.timeout(graceMs);
    if (this.#ready) {
      await this.#untilIdle(deadline);
      this.#post({ kind: 'close' });
      await unlessAborted(this.#exited, deadline);
    }
    const { name, lost } = this.#options;
    this.#rejectWaiting(new StoreUnavailableError(`${name} is closed`));
    this.#rejectInFlight(lost(`${name} was closed before it answered`));
    void this.#worker?.terminate();
    // A thread inside a system call that hangs cannot be ended; nobody gains from waiting for it.
    await unlessAborted(this.#exited, AbortSignal.timeout(STUCK_THREAD_MS));
  }

  #spawn(): Promise<void> {
    const { entry, data, createWorker } = this.#options;
    const worker = createWorker(entry, {
      workerData: data,
      // Not the flags of the process: a thread refuses those that concern memory or the whole process.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.#worker = worker;
    let why: string | undefined;
    const started = Promise.withResolvers<void>();
    const exited = Promise.withResolvers<void>();
    this.#exited = exited.promise;
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'replies') this.#settle(message.replies);
      else if (message.kind === 'failed') why = message.message;
      else {
        this.#ready = true;
        started.resolve();
        this.#sendSoon();
      }
    });
    worker.on('error', (error) => (why = (error as Error).message));
    worker.on('exit', (code) => {
      started.reject(new StoreUnavailableError(why ?? `the thread ended with code ${code}`));
      this.#onExit(why ?? `exit code ${code}`);
      exited.resolve();
    });
    return started.promise;
  }

  /**
   * Put off by some turns of the event loop: what they still bring travels along, in one message and one commit. A turn of an idle
   * loop takes microseconds; one of a busy loop is as long as the requests in it, and that is when gathering pays.
   */
  #sendSoon(): void {
    if (this.#sendScheduled || !this.#ready || this.#inFlight.length > 0) return;
    this.#sendScheduled = true;
    this.#afterTurns(GATHERING_TURNS, () => {
      this.#sendScheduled = false;
      if (this.#ready && this.#inFlight.length === 0 && this.#waiting.length > 0) this.#send();
    });
  }

  #afterTurns(turns: number, work: () => void): void {
    setImmediate(() => (turns > 1 ? this.#afterTurns(turns - 1, work) : work()));
  }

  #send(): void {
    this.#inFlight = this.#waiting.take(MAX_BATCH);
    this.#post({ kind: 'batch', requests: this.#inFlight.map(({ request }) => request) });
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  #settle(replies: readonly Cells[]): void {
    const calls = this.#inFlight;
    this.#inFlight = [];
    this.#setbacks = 0;
    calls.forEach((call, index) => call.resolve(replies[index] ?? []));
    this.#sendSoon();
    if (this.#waiting.length === 0) this.#idle?.();
  }

  #onExit(why: string): void {
    const wasReady = this.#ready;
    this.#ready = false;
    this.#rejectInFlight(this.#options.lost(why));
    this.#idle?.();
    if (wasReady && !this.#stopping.signal.aborted) void this.#restart(why);
  }

  async #restart(cause: string): Promise<void> {
    const { name, logger } = this.#options;
    let why = cause;
    while (!this.#stopping.signal.aborted) {
      this.#setbacks += 1;
      const delay = backoff(this.#setbacks, FIRST_RESTART_MS, LONGEST_RESTART_MS);
      logger?.error(
        { thread: name, reason: why, retryInMs: delay },
        'database thread ended, starting it again',
      );
      if (await pause(delay, this.#stopping.signal)) return;
      try {
        await this.#spawn();
        return;
      } catch (error) {
        why = (error as Error).message;
        this.#rejectWaiting(new StoreUnavailableError(why));
      }
    }
  }

  #rejectWaiting(error: Error): void {
    rejectAll(this.#waiting.take(this.#waiting.length), error);
  }

  #rejectInFlight(error: Error): void {
    const calls = this.#inFlight;
    this.#inFlight = [];
    rejectAll(calls, error);
  }

  async #untilIdle(deadline: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#inFlight.length === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#idle = idle.resolve;
    await unlessAborted(idle.promise, deadline);
  }
}
