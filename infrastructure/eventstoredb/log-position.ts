import type { LogPosition } from '../../application/ports/event-store.ts';

export interface Position {
  readonly commit: bigint;
  readonly prepare: bigint;
}

const FORMAT = /^(\d+)\/(\d+)$/;

/** What servers say of a place that they do not know: all bits set. */
const NOWHERE = 0xffff_ffff_ffff_ffffn;

/** Both parts are needed to resume: the commit position alone is not a place to begin at. */
export const toLogPosition = ({ commit, prepare }: Position): LogPosition =>
  `${commit}/${prepare}` as LogPosition;

/** @throws RangeError a position of another event store, or of none */
export const fromLogPosition = (position: LogPosition): Position => {
  const [, commit, prepare] = FORMAT.exec(position) ?? [];
  if (commit === undefined || prepare === undefined)
    throw new RangeError(`${position} is not a position in EventStoreDB: was it stored by another engine?`);
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};

export const isPlace = (position: Position | undefined): position is Position =>
  position !== undefined && position.commit !== NOWHERE;

/** Whether the first stands behind the second in the log. */
export const isLater = (position: LogPosition, than: LogPosition | 'start'): boolean => {
  if (than === 'start') return true;
  const [a, b] = [position.slice(0, position.indexOf('/')), than.slice(0, than.indexOf('/'))];
  return a.length === b.length ? a > b : a.length > b.length;
};
