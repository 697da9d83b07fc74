import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import { RENEGOTIATION_STREAM_PREFIX } from '../command-handling/operation.ts';
import type {
  EventSubscription,
  LogPosition,
  RecordedEvent,
  SubscriptionMessage,
} from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import type { ProjectionStore } from '../ports/read-models.ts';
import { messageOf } from '../support/failures.ts';
import { backoff } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';
import { AppliedRevisions } from './applied-revisions.ts';
import { PoisonEventError, Quarantine } from './quarantine.ts';
import type { Step } from './quarantine.ts';

/** One projection's place in its store, certain again after every failure. */
class CheckpointedStore {
  readonly #projection: Projection;
  readonly #store: ProjectionStore;
  #position: LogPosition | 'start' = 'start';

  constructor(projection: Projection, store: ProjectionStore) {
    this.#projection = projection;
    this.#store = store;
  }

  get position(): LogPosition | 'start' {
    return this.#position;
  }

  /** True when the stored checkpoint is still the one known here. */
  async load(): Promise<boolean> {
    const known = this.#position;
    this.#position = await this.#store.checkpoint(this.#projection);
    return this.#position === known;
  }

  /**
   * Tries until it is stored. False when another projector moved the checkpoint, or `retry` answered that it is time to stop.
   * @throws RefusedWritesError
   */
  async apply(
    writes: readonly TableWrite[],
    checkpoint: LogPosition,
    retry: (error: unknown) => Promise<boolean>,
  ): Promise<boolean> {
    let doubtful = false;
    for (;;) {
      try {
        const known = this.#position;
        // An apply that failed on its way back has stored everything all the same: only the checkpoint can tell.
        if (doubtful && !(await this.load())) return this.#position === checkpoint;
        const applied = await this.#store.apply(this.#projection, writes, known, checkpoint);
        if (applied) this.#position = checkpoint;
        return applied;
      } catch (error) {
        if (error instanceof RefusedWritesError || !(await retry(error))) throw error;
        doubtful = true;
      }
    }
  }
}

export interface ProjectorDependencies {
  readonly projection: Projection;
  readonly log: EventSubscription;
  readonly store: ProjectionStore;
  /** Undefined for events that no projection sees. */
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly logger: Logger;
  readonly pause: Pause;
  /** Only streams whose name starts so; default: all. */
  readonly streamPrefix?: string;
  /** Most events in one transaction; default: what the log hands out. */
  readonly batchSize?: number;
}

export interface ProjectorStatus {
  readonly projection: string;
  /** `retrying`: something it needs is away; `halted`: an event cannot be projected, and only a person can help. */
  readonly state: 'stopped' | 'running' | 'retrying' | 'halted';
  readonly position: string;
  /** It has seen the end of the log since it last began to follow it. */
  readonly caughtUp: boolean;
  /** Operations and renegotiations whose events wait until an operator releases them. */
  readonly quarantined: number;
  readonly lastError?: string;
}

const kindOf = (stream: string): string =>
  stream.startsWith(RENEGOTIATION_STREAM_PREFIX) ? 'a renegotiation with its operations' : 'an operation';

const FIRST_RETRY_MS = 50;
const SLOWEST_RETRY_MS = 5_000;

/**
 * Feeds one projection from the log: each batch and its checkpoint commit together, so rows are always those of exactly the
 * events up to the checkpoint, wherever the process dies.
 */
export class Projector {
  readonly #deps: ProjectorDependencies;
  readonly #store: CheckpointedStore;
  readonly #applied = new AppliedRevisions();
  readonly #quarantine: Quarantine;
  #state: ProjectorStatus['state'] = 'stopped';
  #caughtUp = false;
  #lastError: string | undefined;
  #failures = 0;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(dependencies: ProjectorDependencies) {
    this.#deps = dependencies;
    this.#store = new CheckpointedStore(dependencies.projection, dependencies.store);
    this.#quarantine = new Quarantine(dependencies.projection, dependencies.decode);
  }

  start(): void {
    if (this.#running) return;
    const stop = new AbortController();
    this.#state = 'running';
    this.#running = { stop, ended: this.#run(stop.signal) };
  }

  /** Finishes the batch at hand. After a halt, stop and start try the event again. */
  async stop(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    running.stop.abort();
    await running.ended;
    if (this.#running === running) this.#running = undefined;
    this.#state = 'stopped';
    this.#applied.dismiss();
  }

  status(): ProjectorStatus {
    return {
      projection: this.#deps.projection.name,
      state: this.#state,
      position: this.#store.position,
      caughtUp: this.#caughtUp,
      quarantined: this.#quarantine.size,
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /** Resolves as soon as the read model holds that revision: true; false when it does not in time, or cannot. */
  waitForVersion(stream: string, revision: bigint, timeoutMs: number): Promise<boolean> {
    if (this.#state === 'halted' || this.#quarantine.has(stream))
      return Promise.resolve(this.#applied.has(stream, revision));
    return this.#applied.wait(stream, revision, timeoutMs);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (error instanceof PoisonEventError) return this.#halt(error);
        await this.#failed(error, signal);
      }
    }
  }

  /** Ends when the signal aborts, or when another projector moved the checkpoint; the next turn starts from there. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { log, streamPrefix, batchSize } = this.#deps;
    this.#caughtUp = false;
    if (!(await this.#store.load())) {
      this.#applied.forget();
      // Another projector may have applied what they wait for, and this one would never learn of it.
      this.#applied.dismiss();
    }
    this.#quarantine.load(await this.#deps.store.quarantined(this.#deps.projection));
    const messages = log.subscribe({
      from: this.#store.position,
      signal,
      ...(streamPrefix !== undefined && { streamPrefix }),
      ...(batchSize !== undefined && { batchSize }),
    });
    for await (const message of messages) {
      if (!(await this.#handle(message, signal))) return;
      this.#recovered();
    }
    if (!signal.aborted) throw new Error('the log ended its subscription');
  }

  async #handle(message: SubscriptionMessage, signal: AbortSignal): Promise<boolean> {
    if (message.kind === 'caught_up') {
      this.#caughtUp = true;
      return true;
    }
    if (message.kind === 'checkpoint') {
      return message.checkpoint === this.#store.position || this.#apply([], message.checkpoint, signal);
    }
    const { steps, poison } = this.#quarantine.batch(message.events);
    const checkpoint = poison ? steps.at(-1)?.event.position : message.checkpoint;
    if (checkpoint !== undefined && !(await this.#apply(steps, checkpoint, signal))) return false;
    if (poison) throw new PoisonEventError(poison.event, poison.cause);
    return true;
  }

  async #apply(steps: readonly Step[], checkpoint: LogPosition, signal: AbortSignal): Promise<boolean> {
    const writes = steps.flatMap((step) => step.writes);
    try {
      const stored = await this.#store.apply(writes, checkpoint, (error) => this.#failed(error, signal));
      if (stored) for (const step of steps) this.#note(step);
      return stored;
    } catch (error) {
      if (!(error instanceof RefusedWritesError)) throw error;
      return this.#applyOneByOne(steps, error, signal);
    }
  }

  /** The store refused a batch: everything before the event that it refuses still gets in. */
  async #applyOneByOne(steps: readonly Step[], refusal: Error, signal: AbortSignal): Promise<boolean> {
    const [only] = steps;
    if (!only) throw refusal;
    if (steps.length === 1) {
      const instead = this.#quarantine.instead(only, refusal);
      if (!instead) throw new PoisonEventError(only.event, refusal);
      return this.#apply([instead], only.event.position, signal);
    }
    this.#quarantine.takeBack(steps);
    for (const { event } of steps) {
      if (!(await this.#apply([this.#quarantine.alone(event)], event.position, signal))) return false;
    }
    return true;
  }

  #note({ event, waits }: Step): void {
    if (!waits) return this.#applied.note(event.stream, event.revision);
    if (waits.reason === undefined) return;
    const { id, stream, revision, type, position } = event;
    this.#deps.logger.error(
      {
        projection: this.#deps.projection.name,
        event: { id, stream, revision: String(revision), type, position },
        error: waits.reason,
        ...(waits.along && { along: waits.along }),
      },
      `${kindOf(stream)} waits in quarantine: \`receivables quarantine list\` shows it`,
    );
  }

  /** False when it is time to stop instead of trying again. */
  async #failed(error: unknown, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const retryInMs = backoff(++this.#failures, FIRST_RETRY_MS, SLOWEST_RETRY_MS);
    const reason = messageOf(error);
    // One line an outage and reason, however long it lasts.
    if (this.#state !== 'retrying' || reason !== this.#lastError) {
      const { projection, logger } = this.#deps;
      logger.error(
        { projection: projection.name, error: reason, retryInMs },
        'projection failed, trying again',
      );
    }
    this.#state = 'retrying';
    this.#caughtUp = false;
    this.#lastError = reason;
    await this.#deps.pause(retryInMs, signal);
    return !signal.aborted;
  }

  #recovered(): void {
    if (this.#state !== 'retrying') return;
    this.#state = 'running';
    this.#failures = 0;
    this.#lastError = undefined;
    this.#deps.logger.info({ projection: this.#deps.projection.name }, 'projection goes on');
  }

  #halt(poison: PoisonEventError): void {
    this.#state = 'halted';
    this.#caughtUp = false;
    this.#lastError = poison.message;
    const { id, stream, revision, type, position } = poison.event;
    const event = { id, stream, revision: String(revision), type, position };
    const projection = this.#deps.projection.name;
    this.#deps.logger.error({ projection, event, error: poison.message }, 'projection halted by an event');
    this.#applied.dismiss();
  }
}
