import type { RenegotiationReceipt } from '../../../application/renegotiation/inputs.ts';

export const presentRenegotiation = (receipt: RenegotiationReceipt): object => ({
  original_proposal_code: receipt.originalProposalCodes[0],
  original_proposal_codes: receipt.originalProposalCodes,
  status: 'renegotiated',
  new_proposal: {
    originator_proposal_code: receipt.newProposal.code,
    status: receipt.newProposal.status,
  },
  effective_date: receipt.effectiveDate,
  processed_at: receipt.processedAt,
});
