import type { Installment } from '../../domain/installment/installment.ts';
import { sizedCache } from '../support/sized-cache.ts';
import type { Operation } from './operation.ts';

/** Bytes of the objects of V8 that an operation is made of, as measured, beside the texts that integrators choose. */
const [OF_ALL, SCHEDULED, CHANGED, A_CREDIT, A_LINE, A_DOCUMENT, A_KEY] = [2_500, 32, 170, 150, 80, 600, 250];

const sizeOf = (changed: readonly (Installment | undefined)[]): number => {
  let bytes = 0;
  for (const one of changed)
    if (one) bytes += CHANGED + ('credits' in one ? one.credits.length * A_CREDIT : 0);
  return bytes;
};

export const bytesOf = ({ state, accepted, chosenCharacters }: Operation): number => {
  let bytes = OF_ALL + chosenCharacters + accepted.size * A_KEY;
  if ('schedule' in state)
    bytes += state.schedule.codes.length * SCHEDULED + state.documents.length * A_DOCUMENT;
  if ('changed' in state) bytes += sizeOf(state.changed);
  if ('repurchase' in state)
    for (const { installmentCode } of state.repurchase.lines) bytes += installmentCode.length + A_LINE;
  return bytes;
};

export type KeptOperations = Pick<Map<string, Operation>, 'get' | 'delete'> & {
  set(stream: string, operation: Operation): unknown;
};

/** Those that were used last, in so many bytes. */
export const keptOperations = (bytes: number): KeptOperations => sizedCache(bytes, bytesOf);
