import type { Generations } from './rebuild/generations.ts';
import type { StateCount } from '../loans/operation-states.ts';
import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { ProjectionStore } from '../projecting/projection-store.ts';
import type { Behind } from '../processors/processor.ts';
import { RELAY_CHECKPOINT } from '../publication/relay.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { isBesideOperations } from '../command-handling/operation.ts';
import { misfit } from '../processors/log-fit.ts';
import type { EventSubscription, LogPlaces } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import type { LogOrder } from '../ports/read-models.ts';

/** Counting stops here: further behind is only said to be at least so much. */
const MOST_COUNTED = 10_000;
/** Older servers do not say where the log ends, which is only believed after two seconds of silence. */
const COUNTED_WITHIN_MS = 10_000;

type Order = Pick<LogOrder, 'compare'>;

export interface Counting {
  readonly log: EventSubscription & LogPlaces;
  readonly order: Order;
  readonly within: <Value>(ms: number, what: string, work: Promise<Value>) => Promise<Value>;
}

interface Counted extends Behind {
  behind: number;
  atLeast: boolean;
  problem?: string;
}

/** A log that says nothing, or cannot be followed from there, is what status has to tell: it does not fail by it. */
const giveUp = (uncounted: Set<Counted>, followers: Iterable<Counted>, problem: string): void => {
  for (const one of followers) {
    [one.behind, one.problem] = [0, problem];
    uncounted.delete(one);
  }
};

/** From the one that is furthest behind on, for all that are passed on the way; ends when only such are left as were not passed. */
const countFrom = async (
  { log, order }: Pick<Counting, 'log' | 'order'>,
  from: Behind['position'],
  uncounted: Set<Counted>,
  signal: AbortSignal,
): Promise<void> => {
  let reached = from;
  const passed = (): Counted[] =>
    [...uncounted].filter(({ position }) => order.compare(position, reached) <= 0);
  try {
    for await (const message of log.subscribe({ from, signal })) {
      if (message.kind === 'caught_up') {
        for (const one of uncounted) one.atLeast = false;
        return uncounted.clear();
      }
      reached = message.checkpoint;
      if (message.kind !== 'events') continue;
      for (const one of passed()) {
        const after = message.events.filter(
          ({ stream, position }) => !isBesideOperations(stream) && order.compare(position, one.position) > 0,
        );
        one.behind = Math.min(MOST_COUNTED, one.behind + after.length);
        if (one.behind === MOST_COUNTED) uncounted.delete(one);
      }
      if (passed().length === 0) return;
    }
  } catch (error) {
    giveUp(uncounted, passed(), messageOf(error));
  }
};

/** How far each is behind; what stands beside the operations is nothing that it has to deal with. The log is read once for all; what lies between those far behind and those close to its end is left out. */
export const behindOf = async (
  { log, order, within }: Counting,
  places: readonly Pick<Behind, 'name' | 'position'>[],
): Promise<readonly Behind[]> => {
  const followers = places.map((place): Counted => ({ ...place, behind: 0, atLeast: true }));
  const uncounted = new Set(followers.toSorted((a, b) => order.compare(a.position, b.position)));
  const stop = new AbortController();
  const counting = async (): Promise<void> => {
    for (const one of followers) {
      // Where the log is away, reading it below says so.
      const problem = await misfit(log, one.position).catch(() => undefined);
      if (problem !== undefined) giveUp(uncounted, [one], problem);
    }
    for (const { position } of uncounted)
      if (!stop.signal.aborted) await countFrom({ log, order }, position, uncounted, stop.signal);
  };
  await within(COUNTED_WITHIN_MS, 'following the log', counting()).catch((error: unknown) =>
    giveUp(uncounted, uncounted, messageOf(error)),
  );
  stop.abort();
  return followers;
};

export interface FoundService {
  readonly place: string;
  readonly found: string | null;
  readonly roles: readonly {
    readonly role: string;
    readonly state: string;
    readonly holder: string | null;
  }[];
}

export interface Lag {
  readonly running: boolean;
  readonly followers: readonly Behind[];
  readonly deliveriesWaiting: { readonly webhooks: number; readonly oldestSince: string | null };
}

export interface Health extends Lag {
  /** Roles that nobody has taken, though a service was found. */
  readonly idleRoles: readonly string[];
  /** Operations and renegotiations of which an event could not be taken. */
  readonly quarantined: number;
}

export interface ServiceStatus extends FoundService, Health {
  readonly engines: readonly { readonly engine: string; readonly kind: string; readonly state: string }[];
  readonly operations: readonly StateCount[];
}

export const idleRolesOf = ({ found, roles }: FoundService): readonly string[] =>
  roles.filter(({ state }) => found !== null && state === 'nobody').map(({ role }) => role);

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

interface Followed extends Counting {
  readonly generations: Pick<Generations, 'projections'>;
  readonly projectionStore: Pick<ProjectionStore, 'checkpoint'>;
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
  readonly webhooks: () => Webhooks;
}

/** Nothing is waited for: what is behind is told as behind. */
export const lagOf = async (followed: Followed): Promise<Omit<Lag, 'running'>> => {
  const { generations, projectionStore, checkpoints, webhooks } = followed;
  const lags = await webhooks().lag.read();
  const oldestSince = lags.map(({ oldestCreatedAt }) => oldestCreatedAt).toSorted()[0] ?? null;
  const places = [{ name: 'relay', position: await checkpoints.load(RELAY_CHECKPOINT) }];
  for (const projection of generations.projections)
    places.push({ name: projection.name, position: await projectionStore.checkpoint(projection) });
  return {
    followers: await behindOf(followed, places),
    deliveriesWaiting: { webhooks: lags.length, oldestSince },
  };
};
