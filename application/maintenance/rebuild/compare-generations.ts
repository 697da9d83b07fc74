import type { Projection } from '../../../projections/projection.ts';
import type { LogPosition } from '../../ports/event-store.ts';
import type { LogOrder } from '../../ports/read-models.ts';
import type { RowDifference } from './table-comparison.ts';
import type { Pair, RowComparison } from './open-generation.ts';
import type { ReadModelCopy } from './read-model-copy.ts';

interface Comparison {
  readonly projection: Projection;
  readonly pair: Pick<Pair, 'compare' | 'compareRow'>;
  readonly order: Pick<LogOrder, 'compare'>;
  readonly follower: Pick<ReadModelCopy, 'catchUp' | 'lastSeen' | 'place' | 'begun'>;
  /** Whether what is compared with still serves: nothing is written into it once another has succeeded it. */
  readonly serves: () => Promise<boolean>;
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
  { live, copy }: RowComparison,
): boolean => {
  const [livePlace, copyPlace] = [live?.position ?? 'start', copy?.position ?? 'start'] as const;
  if (livePlace === copyPlace) return true;
  // Another process takes events into it, too.
  if (copyPlace !== follower.place) return false;
  if (order.compare(livePlace, copyPlace) > 0 || order.compare(livePlace, follower.begun) < 0) return false;
  const last = follower.lastSeen(stream);
  return last === undefined || order.compare(last, livePlace) <= 0;
};

/** Where what serves was when it had been waited for in vain: from there it is not waited for again. */
interface Standing {
  at?: LogPosition | 'start';
}

/** Looks again until both generations show the row at the same place in its stream. */
const confirmed = async (
  comparison: Comparison,
  suspect: RowDifference,
  standing: Standing,
): Promise<RowDifference | undefined> => {
  const { pair, follower, projection, serves, signal, sleep } = comparison;
  for (let look = 0; ; look++) {
    const looked = await pair.compareRow(projection, suspect);
    const { difference } = looked;
    if (!difference || !(await serves())) return undefined;
    if (comparable(comparison, suspect.stream, looked)) return difference;
    const livePlace = looked.live?.position ?? 'start';
    if (look === PATIENCE) standing.at = livePlace;
    if (livePlace === standing.at) return difference;
    await follower.catchUp(signal);
    await sleep(PAUSE_MS);
  }
};

/** Compares every row of a projection in both generations as of the same events, and answers how many differ; none any more once another command has let one serve. */
export const compareGenerations = async (comparison: Comparison): Promise<number> => {
  const { projection, pair, follower, onDifference, signal } = comparison;
  const standing: Standing = {};
  let differences = 0;
  for await (const suspects of pair.compare(projection)) {
    signal.throwIfAborted();
    for (const suspect of suspects) {
      const difference = await confirmed(comparison, suspect, standing);
      if (!difference) continue;
      differences += 1;
      await onDifference(difference);
    }
    await follower.catchUp(signal);
  }
  return differences;
};
