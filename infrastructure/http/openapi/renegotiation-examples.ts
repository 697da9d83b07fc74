const ORIGINAL = 'OP-2026-000123';
const NEW = 'OP-2026-000123-R1';

const installments = [
  { code: '001', due_date: '2026-08-20', face_value: 3100.0 },
  { code: '002', due_date: '2026-09-20', face_value: 3100.0 },
];
const newProposal = {
  originator_proposal_code: NEW,
  number_of_installments: 2,
  acquisition_value: 6000.0,
  installments,
};

export const renegotiationRequest = {
  original_proposal_code: ORIGINAL,
  new_proposal: newProposal,
  effective_date: '2026-06-20',
};

export const renegotiationData = {
  original_proposal_codes: [ORIGINAL, 'OP-2026-000124'],
  new_loan: {
    ...newProposal,
    backing_documents: [{ type: 'renegotiation_document', value: 'debt.docx' }],
  },
  effective_date: '2026-06-20',
};

export const renegotiationReceipt = {
  original_proposal_code: ORIGINAL,
  original_proposal_codes: [ORIGINAL],
  status: 'renegotiated',
  new_proposal: { originator_proposal_code: NEW, status: 'received' },
  effective_date: '2026-06-20',
  processed_at: '2026-06-20T15:04:05.000Z',
};
