import type { RenegotiationTerms } from '../../domain/loan/events.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';

/** A column's text for what may name a person: JSON of the plain text or of the sealed one. Empty once it was forgotten. */
export const privateColumn = (text: PrivateText): string =>
  JSON.stringify(typeof text === 'string' ? text : { sealed: text.sealed });

export const FORGOTTEN_COLUMN = '';

/** JSON text of the part that an operation took in a renegotiation. `completedAt` is null until the new operation is active. */
export const renegotiationText = (
  role: 'original' | 'new',
  { originalProposalCodes, newProposalCode, effectiveDate }: RenegotiationTerms,
  completedAt: string | null,
): string => JSON.stringify({ role, originalProposalCodes, newProposalCode, effectiveDate, completedAt });
