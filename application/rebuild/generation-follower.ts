import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import type {
  EventSubscription,
  LogPosition,
  RecordedEvent,
  SubscriptionMessage,
} from '../ports/event-store.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import type { LogOrder, ProjectionStore } from '../ports/read-models.ts';
import { PoisonEventError, Quarantine, streamsOf } from '../projecting/quarantine.ts';
import type { Step } from '../projecting/quarantine.ts';

export interface GenerationFollowerDependencies {
  readonly projection: Projection;
  readonly log: EventSubscription;
  readonly order: LogOrder;
  readonly store: ProjectionStore;
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  /** Called after each batch that is stored. */
  readonly onProgress: (position: LogPosition) => void;
  /** Between two batches: writers of the same store have their turn. */
  readonly breathe: () => Promise<void>;
}

type Message = Exclude<SubscriptionMessage, { kind: 'caught_up' }>;

/** Large enough to be fast; small enough that a live projector, which waits its turn, is not noticed by readers. */
const BATCH = 1_000;

/** Takes the log into one projection of a generation. Each batch and its place commit together, so a killed process leaves nothing half done. */
export class GenerationFollower {
  readonly #deps: GenerationFollowerDependencies;
  /** No earlier than the last event that came through here and wrote rows of this stream. */
  readonly #lastSeen = new Map<string, LogPosition>();
  readonly #quarantine: Quarantine;
  #position: LogPosition | 'start' = 'start';
  #remembering = false;
  #events = 0;

  constructor(dependencies: GenerationFollowerDependencies) {
    this.#deps = dependencies;
    this.#quarantine = new Quarantine(dependencies.projection, dependencies.decode);
  }

  /** Events taken in by this process. */
  get events(): number {
    return this.#events;
  }

  /** From here on, the follower remembers which streams go on. */
  remember(): void {
    this.#remembering = true;
  }

  lastSeen(stream: string): LogPosition | undefined {
    return this.#lastSeen.get(stream);
  }

  /** Takes in everything that is stored now. @throws PoisonEventError @throws RefusedWritesError */
  catchUp(signal: AbortSignal): Promise<void> {
    return catchUpTogether([this], this.#deps, signal);
  }

  /** Where it stands. */
  async place(): Promise<LogPosition | 'start'> {
    const { store, projection } = this.#deps;
    this.#position = await store.checkpoint(projection);
    this.#quarantine.load(await store.quarantined(projection));
    return this.#position;
  }

  /**
   * Takes in what it has not got of a message. False when another process filled the same generation: only `place` tells then where
   * it is.
   */
  async take(message: Message): Promise<boolean> {
    const { order, onProgress } = this.#deps;
    const from = this.#position;
    if (order.compare(message.checkpoint, from) <= 0) return true;
    const all = message.kind === 'events' ? message.events : [];
    const events = all.filter(({ position }) => order.compare(position, from) > 0);
    const { steps, poison } = this.#quarantine.batch(events);
    if (poison) throw new PoisonEventError(poison.event, poison.cause);
    const writes = steps.flatMap((step) => step.writes);
    if (!(await this.#apply(steps, writes, from, message.checkpoint))) return false;
    this.#position = message.checkpoint;
    this.#events += events.length;
    const last = events.at(-1);
    // The commit of a renegotiation writes rows of other streams than its own, so the rows say which streams went on.
    if (this.#remembering && last)
      for (const stream of writes.flatMap(streamsOf)) this.#lastSeen.set(stream, last.position);
    onProgress(message.checkpoint);
    return true;
  }

  /** Where the store refuses a batch, one event after the other, so that only what the refused one is about waits. */
  async #apply(
    steps: readonly Step[],
    writes: readonly TableWrite[],
    from: LogPosition | 'start',
    to: LogPosition,
  ): Promise<boolean> {
    const { projection, store } = this.#deps;
    try {
      return await store.apply(projection, writes, from, to);
    } catch (error) {
      const [only] = steps;
      if (!(error instanceof RefusedWritesError) || !only) throw error;
      if (steps.length === 1) {
        const instead = this.#quarantine.instead(only, error);
        if (!instead) throw new PoisonEventError(only.event, error);
        return store.apply(projection, instead.writes, from, to);
      }
    }
    let before = from;
    this.#quarantine.takeBack(steps);
    for (const { event } of steps) {
      const step = this.#quarantine.alone(event);
      if (!(await this.#apply([step], step.writes, before, event.position))) return false;
      before = event.position;
    }
    return before === to || store.apply(projection, [], before, to);
  }
}

type Shared = Pick<GenerationFollowerDependencies, 'log' | 'order' | 'breathe'>;

const takeIn = async (
  followers: readonly GenerationFollower[],
  messages: AsyncIterable<SubscriptionMessage>,
  breathe: () => Promise<void>,
): Promise<boolean> => {
  for await (const message of messages) {
    if (message.kind === 'caught_up') return true;
    for (const follower of followers) if (!(await follower.take(message))) return false;
    await breathe();
  }
  return false;
};

/** Takes everything that is stored now into all of them; the log is read and decoded once. @throws as `catchUp` */
export const catchUpTogether = async (
  followers: readonly GenerationFollower[],
  { log, order, breathe }: Shared,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    const places: (LogPosition | 'start')[] = [];
    for (const follower of followers) places.push(await follower.place());
    const from = places.reduce((one, other) => (order.compare(one, other) <= 0 ? one : other));
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    try {
      const messages = log.subscribe({ from, batchSize: BATCH, signal: both });
      if (await takeIn(followers, messages, breathe)) return;
    } finally {
      ending.abort();
    }
  }
  throw signal.reason;
};
