import type { Reservation } from '../../domain/renegotiation/events.ts';
import type { TableWrite } from '../projection.ts';
import { newLoan } from './assignment-writes.ts';
import { renegotiationText } from './renegotiation-text.ts';
import { advanceLoan, changeInstallments, changeStatus } from './writes.ts';
import type { Place, Projected } from './writes.ts';

/**
 * Both sides change in the one transaction of the commit, and no later event of theirs changes more than their versions: no
 * reader sees an original gone without its successor. Rows stand at the revision of the reservation, the last event that their
 * streams hold at that moment.
 */
export const renegotiationCommitted = (
  projected: Projected<'RenegotiationCommitted'>,
): readonly TableWrite[] => {
  const { originals, newLoan: next, received, renegotiation, committedAt } = projected.event;
  const at = ({ stream, revision }: Reservation): Place => ({
    stream,
    revision: BigInt(revision),
    recordedAt: projected.recordedAt,
  });
  const text = renegotiationText('original', renegotiation, null);
  return [
    ...originals.flatMap((original) => [
      ...changeStatus(at(original), 'renegotiated', committedAt, { renegotiation: text }),
      changeInstallments(original, { payable: 0 }),
    ]),
    ...newLoan(at(next), received),
  ];
};

export const renegotiationCompleted = (
  projected: Projected<'LoanRenegotiationCompleted'>,
): readonly TableWrite[] => {
  const { renegotiation, completedAt } = projected.event;
  return [
    advanceLoan(projected, { renegotiation: renegotiationText('original', renegotiation, completedAt) }),
  ];
};
