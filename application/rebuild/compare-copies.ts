import type { Projection } from '../../projections/engine/projection.ts';
import type { LogPosition } from '../ports/event-store.ts';
import type { ProjectionCopies, ProjectionPlaces, RowDifference } from '../ports/projection-copies.ts';
import type { CopyFollower } from './copy-follower.ts';
import type { LogOrder } from './log-order.ts';

interface Comparison {
  readonly projection: Projection;
  readonly copies: ProjectionCopies;
  readonly order: LogOrder;
  readonly follower: CopyFollower;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onDifference: (difference: RowDifference) => void | Promise<void>;
}

const PAUSE_MS = 50;
/** A projector that is further behind than this stands still; its rows differ for that alone. */
const PATIENCE = 200;

/** Rows depend on the events of their own stream, so they are comparable when none of these lies between both places. */
const comparable = (
  { order, follower }: Comparison,
  stream: string,
  { live, copy }: ProjectionPlaces,
  begun: LogPosition | 'start',
): boolean => {
  const [livePlace, copyPlace] = [live?.position ?? 'start', copy?.position ?? 'start'] as const;
  if (livePlace === copyPlace) return true;
  if (order.compare(livePlace, copyPlace) > 0 || order.compare(livePlace, begun) < 0) return false;
  const last = follower.lastSeen(stream);
  return last === undefined || order.compare(last, livePlace) <= 0;
};

/** Looks again until both copies show the row at the same place in its stream. */
const confirmed = async (
  comparison: Comparison,
  suspect: RowDifference,
  begun: LogPosition | 'start',
): Promise<RowDifference | undefined> => {
  const { copies, follower, projection, signal, sleep } = comparison;
  for (let look = 0; ; look++) {
    const { places, difference } = await copies.compareRow(projection.name, suspect);
    if (!difference || comparable(comparison, suspect.stream, places, begun)) return difference;
    if (look === PATIENCE) return difference;
    await follower.catchUp(signal);
    await sleep(PAUSE_MS);
  }
};

/** Compares every row of both copies as of the same events, and answers how many differ. */
export const compareCopies = async (comparison: Comparison): Promise<number> => {
  const { projection, copies, follower, onDifference, signal } = comparison;
  const { live, copy } = await copies.places(projection.name);
  if (!live) return 0;
  const begun = copy?.position ?? 'start';
  let differences = 0;
  for await (const suspects of copies.compare(projection)) {
    signal.throwIfAborted();
    for (const suspect of suspects) {
      const difference = await confirmed(comparison, suspect, begun);
      if (!difference) continue;
      differences += 1;
      await onDifference(difference);
    }
    await follower.catchUp(signal);
  }
  return differences;
};
