import type { Worker } from 'node:worker_threads';
import type { Logger } from '../../../application/ports/logger.ts';
import { messageOf } from '../../../application/support/failures.ts';
import { backoff } from '../../../application/support/retry.ts';
import type { SqliteEventStore } from '../../sqlite/event-log/sqlite-event-store.ts';
import { pause, unlessAborted } from '../../support/time.ts';
import type { Configuration } from '../configuration.ts';
import { newBackgroundWorker } from './background-worker.ts';
import type {
  BackgroundData,
  FromBackground,
  Question,
  Questions,
  ToBackground,
} from './background-worker.ts';

interface BackgroundOptions {
  /** With the roles that the thread plays. */
  readonly configuration: Configuration;
  readonly logger: Logger;
  /** The log that this thread has open; undefined when it is elsewhere, and the background thread connects to it by itself. */
  readonly log: SqliteEventStore | undefined;
  /** One that has begun to load its modules; default: a new one. */
  readonly worker: Worker | undefined;
}

const FIRST_RESTART_MS = 50;
const LONGEST_RESTART_MS = 5_000;
/** Work in flight may end; what is cut off is repeated after the next start. */
const STOP_WITHIN_MS = 3_000;
/** Appends of one moment are told together: at once after a quiet time, else no oftener than followers read. A message costs as much as a commit. */
const TELL_AFTER_MS = 2;
const TELL_EVERY_MS = 8;

/**
 * Starts the thread that follows the log (projections, publishing, deliveries, schedules) and talks to it. When it dies, it is
 * started again and goes on from its stored positions; until then the service says that it is not ready.
 */
export class BackgroundThread {
  readonly #options: BackgroundOptions;
  readonly #stopping = new AbortController();
  readonly #questions = new Map<number, (answer: Questions[Question]) => void>();
  #asked = 0;
  #worker: Worker | undefined;
  #exited: Promise<void> = Promise.resolve();
  #down: string | undefined = 'it starts';
  #end = 0;
  #telling = false;
  #toldAt = -Infinity;
  #setbacks = 0;

  private constructor(options: BackgroundOptions) {
    this.#options = options;
    options.log?.onAppended((position) => this.#appended(position));
  }

  /** Resolves when everything in it has begun. @throws Error what kept it from starting */
  static async start(options: BackgroundOptions): Promise<BackgroundThread> {
    const thread = new BackgroundThread(options);
    await thread.#spawn(options.worker);
    return thread;
  }

  /** Why it is not there; undefined while it works. */
  get down(): string | undefined {
    return this.#down;
  }

  /** Undefined while the thread is not there. */
  ask<Asked extends Question>(question: Asked): Promise<Questions[Asked]> | undefined {
    if (this.#down !== undefined) return undefined;
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#questions.set(id, (answer) => resolve(answer as Questions[Asked]));
      this.#post({ kind: 'ask', id, question });
    });
  }

  queued(webhookIds: readonly string[]): void {
    this.#post({ kind: 'queued', webhookIds });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#post({ kind: 'stop' });
    await unlessAborted(this.#exited, AbortSignal.timeout(STOP_WITHIN_MS));
    await this.#worker?.terminate();
  }

  /** At most one message a moment, however many appends. */
  #appended(position: number): void {
    this.#end = Math.max(this.#end, position);
    if (this.#telling) return;
    this.#telling = true;
    const wait = Math.max(TELL_AFTER_MS, this.#toldAt + TELL_EVERY_MS - performance.now());
    setTimeout(() => {
      this.#telling = false;
      this.#toldAt = performance.now();
      this.#post({ kind: 'appended', position: this.#end });
    }, wait).unref();
  }

  #post(message: ToBackground): void {
    this.#worker?.postMessage(message);
  }

  #spawn(prepared?: Worker): Promise<void> {
    const { masterKey, previousMasterKey, ...configuration } = this.#options.configuration;
    const data: BackgroundData = {
      configuration,
      masterKey: masterKey?.handle(),
      previousMasterKey: previousMasterKey?.handle(),
    };
    const worker = prepared ?? newBackgroundWorker();
    worker.ref();
    this.#worker = worker;
    let why: string | undefined;
    const started = Promise.withResolvers<void>();
    const exited = Promise.withResolvers<void>();
    this.#exited = exited.promise;
    worker.on('message', (message: FromBackground) => {
      if (message.kind !== 'ready') return this.#receive(worker, message);
      this.#down = undefined;
      this.#setbacks = 0;
      started.resolve();
    });
    worker.on('error', (error) => (why = messageOf(error)));
    worker.on('exit', (code) => {
      const reason = why ?? `exit code ${code}`;
      started.reject(new Error(`the background thread ended while it started: ${reason}`));
      this.#onExit(worker, reason);
      exited.resolve();
    });
    worker.postMessage(data);
    return started.promise;
  }

  #receive(worker: Worker, message: Exclude<FromBackground, { kind: 'ready' }>): void {
    switch (message.kind) {
      case 'log':
        return this.#options.logger[message.level](message.fields, message.message);
      case 'append':
        return void this.#carryOut(worker, message);
      case 'answer': {
        const answer = this.#questions.get(message.id);
        this.#questions.delete(message.id);
        return answer?.(message.answer);
      }
    }
  }

  async #carryOut(
    worker: Worker,
    { id, append, characters }: Extract<FromBackground, { kind: 'append' }>,
  ): Promise<void> {
    const reply = await this.#options.log!.carryOut(append, characters);
    worker.postMessage({ kind: 'append result', id, reply } satisfies ToBackground);
  }

  #onExit(worker: Worker, why: string): void {
    if (this.#worker === worker) this.#worker = undefined;
    const wasUp = this.#down === undefined;
    this.#down = `ended: ${why}`;
    this.#questions.clear();
    if (wasUp && !this.#stopping.signal.aborted) void this.#restart(why);
  }

  async #restart(cause: string): Promise<void> {
    const { logger } = this.#options;
    for (let reason = cause; !this.#stopping.signal.aborted;) {
      this.#setbacks += 1;
      const retryInMs = backoff(this.#setbacks, FIRST_RESTART_MS, LONGEST_RESTART_MS);
      logger.error({ reason, retryInMs }, 'the background thread ended, starting it again');
      await pause(retryInMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#spawn();
        logger.info({}, 'the background thread started again');
        return;
      } catch (error) {
        reason = messageOf(error);
      }
    }
  }
}
