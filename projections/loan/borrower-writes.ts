import type { TableWrite } from '../projection.ts';
import { FORGOTTEN_COLUMN } from './private-column.ts';
import { advanceLoan } from './writes.ts';
import type { Projected } from './writes.ts';

/** Nothing opens sealed texts any more, and plain ones of earlier versions are to be read no more: both go from the rows. */
export const borrowerForgotten = (projected: Projected<'BorrowerForgotten'>): readonly TableWrite[] => [
  advanceLoan(projected, { borrower: '', reason_detail: FORGOTTEN_COLUMN }),
  {
    op: 'update',
    table: 'document',
    where: { stream: projected.stream },
    set: { value: FORGOTTEN_COLUMN },
  },
];
