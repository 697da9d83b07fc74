import { Worker, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import {
  DamagedStoreError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff } from '../../application/support/retry.ts';
import { HEAPS, threadOptions } from '../support/threads.ts';
import { pause, unlessAborted } from '../support/time.ts';

interface Call<Request, Reply> {
  readonly request: Request;
  /** Its size, as far as it matters for memory. */
  readonly characters: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

interface QueueLimits {
  readonly maxCalls: number;
  readonly maxCharacters: number;
}

/** Calls that wait for a thread or for its answer, bounded in number and in size. */
class CallQueue<Request, Reply> {
  readonly #limits: QueueLimits;
  #calls: Call<Request, Reply>[] = [];
  #characters = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#calls.length;
  }

  get isFull(): boolean {
    return this.#calls.length >= this.#limits.maxCalls || this.#characters > this.#limits.maxCharacters;
  }

  add(call: Call<Request, Reply>): void {
    this.#calls.push(call);
    this.#characters += call.characters;
  }

  take(atMost: number): readonly Call<Request, Reply>[] {
    const taken = this.#calls.splice(0, atMost);
    for (const call of taken) this.#characters -= call.characters;
    return taken;
  }

  rejectAll(error: Error): void {
    for (const call of this.take(this.length)) call.reject(error);
  }
}

interface DatabaseThreadOptions {
  /** For messages: `event store writer`. */
  readonly name: string;
  readonly entry: URL;
  readonly data: object;
  /** When more than this waits, a request is refused at once. */
  readonly limits: QueueLimits;
  readonly logger: Logger | undefined;
}

/** The thread takes what has come while it flushed, so a message need not wait for the answer to the one before. */
const MESSAGES_UNDER_WAY = 4;
const MAX_BATCH = 1_000;
const FIRST_RESTART_MS = 50;
const LONGEST_RESTART_MS = 5_000;
const STUCK_THREAD_MS = 500;

/**
 * A thread that owns a database connection and commits what waits together. When it dies, it is started again; what had been handed
 * to it is lost, what still waited here is not.
 */
export class DatabaseThread<Request, Reply> {
  readonly #options: DatabaseThreadOptions;
  readonly #stopping = new AbortController();
  #worker: Worker | undefined;
  #ready = false;
  #exited: Promise<void> = Promise.resolve();
  readonly #waiting: CallQueue<Request, Reply>;
  readonly #underWay = new CallQueue<Request, Reply>({ maxCalls: Infinity, maxCharacters: Infinity });
  /** How many requests each message holds that is not answered in full. */
  #messages: number[] = [];
  #sendScheduled = false;
  #setbacks = 0;
  #idle: (() => void) | undefined;

  private constructor(options: DatabaseThreadOptions) {
    this.#options = options;
    this.#waiting = new CallQueue(options.limits);
  }

  /** @throws StoreUnavailableError the database cannot be opened; the message says why @throws DamagedStoreError */
  static async start<Request, Reply>(
    options: DatabaseThreadOptions,
  ): Promise<DatabaseThread<Request, Reply>> {
    const thread = new DatabaseThread<Request, Reply>(options);
    await thread.#spawn();
    return thread;
  }

  call(request: Request, characters = 0): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { name } = this.#options;
      if (this.#stopping.signal.aborted) throw new StoreUnavailableError(`${name} is closed`);
      if (this.#waiting.isFull)
        throw new StoreUnavailableError(`${name} is overloaded: ${this.#waiting.length} requests wait`);
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
    const { name } = this.#options;
    this.#waiting.rejectAll(new StoreUnavailableError(`${name} is closed`));
    this.#underWay.rejectAll(new OutcomeUnknownError(`${name} was closed before it answered`));
    void this.#worker?.terminate();
    // A thread inside a system call that hangs cannot be ended, and the process does not wait for it.
    await unlessAborted(this.#exited, AbortSignal.timeout(STUCK_THREAD_MS));
  }

  #spawn(): Promise<void> {
    const { entry, data, name } = this.#options;
    const worker = new Worker(entry, { ...threadOptions(name, HEAPS.writer), workerData: data });
    this.#worker = worker;
    let why: string | undefined;
    let damaged = false;
    const started = Promise.withResolvers<void>();
    const exited = Promise.withResolvers<void>();
    this.#exited = exited.promise;
    worker.on('message', (message: FromThread<Reply>) => {
      if (message.kind === 'replies') this.#settle(message.replies);
      else if (message.kind === 'failed') ({ message: why, damaged } = message);
      else {
        this.#ready = true;
        started.resolve();
        this.#sendSoon();
      }
    });
    worker.on('error', (error) => (why = messageOf(error)));
    worker.on('exit', (code) => {
      started.reject(new (damaged ? DamagedStoreError : StoreUnavailableError)(why ?? `exit code ${code}`));
      this.#onExit(why ?? `exit code ${code}`);
      exited.resolve();
    });
    return started.promise;
  }

  /** At the end of this turn of the event loop: what the turn still brings travels along. */
  #sendSoon(): void {
    if (this.#sendScheduled || !this.#mayWork) return;
    this.#sendScheduled = true;
    setImmediate(() => {
      this.#sendScheduled = false;
      if (this.#mayWork && this.#waiting.length > 0) this.#send();
    });
  }

  get #mayWork(): boolean {
    return this.#ready && this.#messages.length < MESSAGES_UNDER_WAY;
  }

  #send(): void {
    const calls = this.#waiting.take(MAX_BATCH);
    for (const call of calls) this.#underWay.add(call);
    this.#messages.push(calls.length);
    this.#post({ kind: 'batch', requests: calls.map(({ request }) => request) });
    if (this.#waiting.length > 0) this.#sendSoon();
  }

  #post(message: ToThread<Request>): void {
    this.#worker?.postMessage(message);
  }

  #settle(replies: readonly Reply[]): void {
    const calls = this.#underWay.take(replies.length);
    for (let left = replies.length; left > 0;) {
      const first = this.#messages.shift() ?? 0;
      if (first > left) this.#messages.unshift(first - left);
      left -= first;
    }
    this.#setbacks = 0;
    calls.forEach((call, index) => call.resolve(replies[index]!));
    if (this.#waiting.length > 0) this.#sendSoon();
    else if (this.#underWay.length === 0) this.#idle?.();
  }

  #onExit(why: string): void {
    const wasReady = this.#ready;
    this.#ready = false;
    this.#messages = [];
    this.#underWay.rejectAll(new OutcomeUnknownError(`${this.#options.name} was lost: ${why}`));
    this.#idle?.();
    if (wasReady && !this.#stopping.signal.aborted) void this.#restart(why);
  }

  async #restart(cause: string): Promise<void> {
    const { name, logger } = this.#options;
    let why = cause;
    while (!this.#stopping.signal.aborted) {
      this.#setbacks += 1;
      const retryInMs = backoff(this.#setbacks, FIRST_RESTART_MS, LONGEST_RESTART_MS);
      logger?.error({ thread: name, reason: why, retryInMs }, 'database thread ended, starting it again');
      await pause(retryInMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#spawn();
        logger?.info({ thread: name }, 'database thread started again');
        return;
      } catch (error) {
        why = (error as Error).message;
        this.#waiting.rejectAll(new StoreUnavailableError(why));
      }
    }
  }

  async #untilIdle(deadline: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#underWay.length === 0) return;
    const idle = Promise.withResolvers<void>();
    this.#idle = idle.resolve;
    await unlessAborted(idle.promise, deadline);
  }
}

/** What the near side sends. The requests of a batch are answered in their order. */
export type ToThread<Request> =
  { readonly kind: 'batch'; readonly requests: readonly Request[] } | { readonly kind: 'close' };

/** What the thread sends: `ready` once, or `failed` and the thread ends; then one message for each group that it carried out. */
export type FromThread<Reply> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly damaged: boolean }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[] };

/** What a thread does with its connection. */
interface GroupWork<Request, Reply> {
  /** One transaction for all of them. @throws when it is unknown what was stored: the thread must then start afresh */
  carryOut(requests: readonly Request[]): readonly Reply[];
  /** After a group was answered. */
  afterwards?(): void;
  close(): void;
}

/** Everything that waits at the moment, up to a bound: it has gathered while the group before was flushed. */
const drain = <Request>(port: MessagePort, first: ToThread<Request>, most: number) => {
  const requests: Request[] = [];
  let message: ToThread<Request> | undefined = first;
  while (message?.kind === 'batch') {
    requests.push(...message.requests);
    if (requests.length >= most) break;
    message = receiveMessageOnPort(port)?.message as ToThread<Request> | undefined;
  }
  return { requests, closing: message?.kind === 'close' };
};

/** The far side of a DatabaseThread. */
export const serveThread = <Request, Reply>(
  open: () => GroupWork<Request, Reply>,
  mostInGroup: number,
): void => {
  const port = parentPort!;
  const post = (message: FromThread<Reply>): void => port.postMessage(message);
  let work: GroupWork<Request, Reply>;
  try {
    work = open();
  } catch (error) {
    post({ kind: 'failed', message: messageOf(error), damaged: error instanceof DamagedStoreError });
    return;
  }
  port.on('message', (first: ToThread<Request>) => {
    const { requests, closing } = drain(port, first, mostInGroup);
    if (requests.length > 0) post({ kind: 'replies', replies: work.carryOut(requests) });
    work.afterwards?.();
    if (!closing) return;
    work.close();
    port.close();
  });
  post({ kind: 'ready' });
};
