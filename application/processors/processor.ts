import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { QuarantinedStream } from '../ports/read-models.ts';
import { messageOf } from '../support/failures.ts';
import type { OutageOptions } from '../support/retry.ts';

export type Place = LogPosition | 'start';

export type Followed = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'type' | 'position'>;

export type Held = Pick<QuarantinedStream, 'stream' | 'revision'> & { readonly released?: boolean };

export type HoldChange =
  /** `waiting`: events of its own that wait now; none yet where it only waits with another. */
  | { readonly kind: 'hold'; readonly hold: QuarantinedStream; readonly waiting: number }
  /** `by` events more wait. With 0 the row is only asked for, so that a release by another process is noticed. */
  | { readonly kind: 'count'; readonly stream: string; readonly by: number }
  | { readonly kind: 'remove'; readonly stream: string; readonly revision: bigint };

export interface Done<W, E = RecordedEvent> {
  readonly events: readonly E[];
  readonly writes: readonly W[];
  readonly holds: readonly HoldChange[];
  readonly to: Place;
}

export interface Commit<W> extends Omit<Done<W>, 'events'> {
  readonly from: Place;
  /** None of it was in the log when its processor began to follow. */
  readonly live: boolean;
}

export interface ProcessorStore<W> {
  load(): Promise<{ readonly place: Place; readonly held: readonly Held[] }>;
  /** All or nothing; false where the place is not `from`, or what is held is another. @throws RefusedWritesError */
  commit(commit: Commit<W>): Promise<boolean>;
}

/** A place and nothing beside it. @param name of the place; stored, so never changed */
export const placeAlone = (checkpoints: CheckpointStore, name: string): ProcessorStore<never> => ({
  load: async () => ({ place: await checkpoints.load(name), held: [] }),
  commit: async ({ from, to }) => from === to || checkpoints.move(name, from, to),
});

interface Work<W> {
  readonly writes: readonly W[];
  /** Its place may be stored with later ones: to see these events again costs next to nothing. */
  readonly mayWait?: boolean;
}

/** How streams wait whose events cannot be handled, while the others go on. */
export interface Holding<W, E = RecordedEvent> {
  mayWait(stream: string): boolean;
  /** Whose stream it is, as streams of one owner may be at fault where the program is not. */
  readonly ownerOf: (stream: string) => string;
  says(stream: string): string;
  readonly ties?: {
    /** Streams in quarantine for which an event has to wait; asked before it is handled, and again with what it would write. */
    waitsFor(
      event: E,
      writes: readonly W[] | undefined,
      held: ReadonlyMap<string, Held>,
    ): { readonly streams: readonly string[]; readonly reason: string } | undefined;
    along(event: E, writes: readonly W[]): readonly string[];
  };
  /** The events of a stream that an operator released; absent where releasing is not the processor's work. */
  readonly waiting?: (held: Held) => Promise<readonly E[]>;
}

interface ProcessorWatch<W, E = RecordedEvent> {
  committed(done: Done<W, E>): void;
  /** The place is another than the one known here: it was moved, or set back. */
  lost?(): void;
  ended?(): void;
}

/**
 * One thing that follows the log, or a partition of a topic. What it returns as `writes` is stored exactly once, in the transaction of its place; what it does while
 * it handles events is done at least once and has to be safe to repeat; what its watch is told may be lost in a crash.
 */
export interface Processor<W, E extends Followed = RecordedEvent> {
  readonly what: string;
  readonly fields?: object;
  readonly source: EventSubscription<E>;
  readonly streamPrefix?: string;
  /** Most events at once; default: what the log hands out. */
  readonly batchSize?: number;
  readonly store: ProcessorStore<W>;
  /** How long work may wait before it is stored. `lazily`: nothing is written, so no place needs storing at a stop. */
  readonly gather?: { readonly ms?: number; readonly events: number; readonly lazily?: true };
  /** Absent, as what comes next: an event that it cannot handle brings it to a halt. */
  readonly holding?: Holding<W, E>;
  /** Keeps what it cannot handle somewhere else; durable when it resolves, and then passed over. After a crash it may come again. */
  readonly putAside?: (event: E, reason: string) => Promise<void>;
  readonly watch?: ProcessorWatch<W, E>;
  /** Milliseconds between two tries, where not the usual ones. */
  readonly pauses?: Pick<OutageOptions, 'firstPauseMs' | 'longestPauseMs'>;
  /** In the order of the source. @throws PoisonEventError for what will fail again; anything else is tried again */
  handle(events: readonly E[], signal: AbortSignal): Promise<Work<W>> | Work<W>;
}

export interface Status {
  readonly name: string;
  /** `retrying`: something it needs is away; `halted`: an event cannot be handled, and only a person can help. */
  readonly state: 'stopped' | 'running' | 'retrying' | 'halted';
  readonly position: Place;
  /** Whether the end of the log was seen since the processor last began to follow it. */
  readonly caughtUp: boolean;
  readonly quarantined: number;
  readonly lastError?: string;
}

export interface Behind extends Pick<Status, 'name' | 'position'> {
  readonly behind: number;
  readonly atLeast: boolean;
  readonly problem?: string;
}

export class PoisonEventError<E extends Followed = RecordedEvent> extends Error {
  override readonly name = 'PoisonEventError';
  readonly event: E;
  readonly reason: string;

  constructor(event: E, cause: unknown) {
    const reason = messageOf(cause);
    super(`event ${event.revision} of ${event.stream} (${event.type}) cannot be handled: ${reason}`, {
      cause,
    });
    this.event = event;
    this.reason = reason;
  }
}

/** Whatever is thrown for some events names one of them. */
export const isPoison = <E extends Followed>(error: unknown): error is PoisonEventError<E> =>
  error instanceof PoisonEventError;

/** Where more streams would have to wait, it is the program that is wrong and not their events. */
const MOST_HELD = 10_000;
/** So it is where fewer belong to many owners, each of whom counts up to a bound: a few bring the others to no halt. */
const MOST_COUNTED = 100;
const MOST_COUNTED_EACH = 10;

/** True where no further stream may wait beside these. */
export const waitTooMany = (streams: Iterable<string>, ownerOf: (stream: string) => string): boolean => {
  const counts = new Map<string, number>();
  let all = 0;
  for (const owner of Iterator.from(streams).map(ownerOf)) {
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
    all += 1;
  }
  const counted = [...counts.values()].reduce((sum, count) => sum + Math.min(count, MOST_COUNTED_EACH), 0);
  return all >= MOST_HELD || counted >= MOST_COUNTED;
};
