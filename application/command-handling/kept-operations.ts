import { sizedCache } from '../support/sized-cache.ts';
import type { Operation } from './operation.ts';

/** Bytes of the objects of V8 that an operation is made of, as measured; what is priced line by line has as many lines. */
const [OF_ALL, SCHEDULED, CHANGED, A_KEY, A_LINE, A_DOCUMENT] = [2_500, 32, 170, 270, 80, 600];

export const bytesOf = ({ state, accepted }: Operation): number => {
  const keys = accepted.size * A_KEY;
  if (!('schedule' in state)) return OF_ALL + keys;
  let lines = 'repurchase' in state ? state.repurchase.lines.length : 0;
  if ('prepayments' in state) for (const one of state.prepayments) lines += 5 + one.lines.length;
  let changed = 0;
  if ('changed' in state) for (const one of state.changed) if (one) changed += 1;
  return (
    OF_ALL +
    keys +
    state.schedule.codes.length * SCHEDULED +
    changed * CHANGED +
    lines * A_LINE +
    state.documents.length * A_DOCUMENT
  );
};

export type KeptOperations = Pick<Map<string, Operation>, 'get' | 'delete'> & {
  set(stream: string, operation: Operation): unknown;
};

/** Those that were used last, in so many bytes. */
export const keptOperations = (bytes: number): KeptOperations => sizedCache(bytes, bytesOf);
