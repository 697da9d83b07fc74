import type { TableWrite } from '../engine/projection.ts';
import { advanceLoan } from './writes.ts';
import type { Projected } from './writes.ts';

/** Nothing opens the sealed text any more; it goes from the row all the same. */
export const borrowerForgotten = (projected: Projected<'BorrowerForgotten'>): readonly TableWrite[] => [
  advanceLoan(projected, { borrower: '' }),
];
