const CODE = 'OP-2026-000123';
const PROCESSED = '2026-06-20T15:04:05.000Z';

export const prepayment = {
  originator_proposal_code: CODE,
  prepayment_value: 3000.0,
  prepayment_date: '2026-06-20',
  payment_method: 'pix',
  idempotency_key: `${CODE}-prepayment-1`,
};

export const prepaymentReceipt = {
  originator_proposal_code: CODE,
  status: 'prepayment_processed',
  prepayment_value: 3000.0,
  settled_installments: ['012', '011', '010'],
  remaining_balance: 3147.33,
  excess_value: 0.0,
  partially_paid: { installment_code: '009', outstanding_value: 436.45 },
  processed_at: PROCESSED,
};

export const repurchaseRequest = {
  originator_proposal_code: CODE,
  reason: 'repurchase',
  reason_detail: 'Three installments overdue',
  effective_date: '2026-06-20',
  idempotency_key: `${CODE}-repurchase`,
};

export const repurchaseReceipt = {
  originator_proposal_code: CODE,
  status: 'repurchase_pending',
  reason: 'repurchase',
  repurchase_value: 6147.33,
  calculated_at: PROCESSED,
};

export const filesData = {
  originator_proposal_code: CODE,
  documents: [{ type: 'renegotiation_signature', value: 'signed.pdf' }],
};

export const filesReceipt = {
  originator_proposal_code: CODE,
  documents: [
    {
      document_id: '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11',
      type: 'renegotiation_signature',
      value: 'signed.pdf',
      sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
      size: 51234,
      received_at: PROCESSED,
    },
  ],
};
