import type { RenegotiationTerms } from '../../domain/loan/events.ts';

/** JSON text of the part that an operation took in a renegotiation. `completedAt` is null until the new operation is active. */
export const renegotiationText = (
  role: 'original' | 'new',
  { originalProposalCodes, newProposalCode, effectiveDate }: RenegotiationTerms,
  completedAt: string | null,
): string => JSON.stringify({ role, originalProposalCodes, newProposalCode, effectiveDate, completedAt });
