const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
const CODE = 'OP-2026-000123';
const RECEIVED = '2026-01-15T12:00:00.000Z';
const DIGEST = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';

const installments = [
  { code: '001', due_date: '2026-02-15', face_value: 950.0 },
  { code: '002', due_date: '2026-03-15', face_value: 950.5 },
];

export const loanData = {
  fund_id: FUND,
  originator_proposal_code: CODE,
  product_type: 'financing',
  acquisition_value: 1800.0,
  number_of_installments: 2,
  date_issued: '2026-01-15',
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Maria da Silva',
    birth_date: '1990-05-20',
    email: 'maria@example.com',
    phone: '+5511999990000',
    address: {
      zip_code: '01310100',
      street: 'Avenida Paulista',
      number: '1000',
      neighborhood: 'Bela Vista',
      city: 'Sao Paulo',
      state: 'SP',
    },
  },
  installments,
  backing_documents: [{ type: 'ccb', value: 'ccb.pdf' }],
};

export const loanReceipt = {
  originator_proposal_code: CODE,
  status: 'received',
  fund_id: FUND,
  received_at: RECEIVED,
};

export const loanSummary = {
  originator_proposal_code: CODE,
  fund_id: FUND,
  status: 'active',
  product_type: 'financing',
  acquisition_value: 1800.0,
  number_of_installments: 2,
  date_issued: '2026-01-15',
  received_at: RECEIVED,
  updated_at: '2026-02-15T15:04:05.000Z',
};

export const loan = {
  ...loanSummary,
  status_history: [
    { status: 'received', at: RECEIVED },
    { status: 'approved', at: '2026-01-15T12:00:02.000Z' },
    { status: 'term_signed', at: '2026-01-15T12:00:04.000Z' },
    { status: 'active', at: '2026-01-15T12:00:06.000Z' },
  ],
  borrower: { document_type: 'CPF', document_number: '*********25', name: 'Maria da Silva' },
  installments: [
    {
      ...installments[0],
      status: 'settled',
      settled_at: '2026-02-15',
      settled_value: 950.0,
      payment_method: 'pix',
      outstanding_value: 0.0,
    },
    {
      ...installments[1],
      status: 'pending',
      settled_at: null,
      settled_value: null,
      payment_method: null,
      outstanding_value: 950.5,
    },
  ],
  documents: [
    {
      document_id: '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11',
      type: 'ccb',
      value: 'ccb.pdf',
      sha256: DIGEST,
      size: 48213,
      received_at: RECEIVED,
    },
  ],
  balances: {
    open_face_value: 950.5,
    received_value: 950.0,
    payoff_value: 921.37,
    payoff_date: '2026-02-16',
  },
  disbursement: { value: 1800.0, date: '2026-01-15' },
  prepayments: [],
  version: 4,
};

const WEBHOOK_ID = '8a1e5f30-3c1b-4d0e-9f53-0a5f7c1d2e3f';
const EVENT_ID = '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69';
const DELIVERY_ID = 'c2b7d6a4-1f0e-4b9c-a5d8-6e7f8a9b0c1d';

export const newWebhook = {
  url: 'https://hooks.example.com/receivables',
  events: ['*'],
  description: 'Production receiver',
};

export const webhook = {
  webhook_id: WEBHOOK_ID,
  url: newWebhook.url,
  events: ['*'],
  fund_ids: null,
  description: newWebhook.description,
  status: 'active',
  created_at: RECEIVED,
  updated_at: RECEIVED,
  last_success_at: '2026-01-15T12:00:01.250Z',
  last_failure_at: null,
  failing_since: null,
};

export const createdWebhook = {
  webhook_id: WEBHOOK_ID,
  url: newWebhook.url,
  events: ['*'],
  fund_ids: null,
  description: newWebhook.description,
  status: 'active',
  signing_secret: 'whsec_5f1d7a0c9b',
  created_at: RECEIVED,
};

export const rotatedSecret = {
  webhook_id: WEBHOOK_ID,
  signing_secret: 'whsec_0c9b5f1d7a',
  rotated_at: RECEIVED,
};

export const redelivery = {
  event_id: EVENT_ID,
  deliveries: [{ webhook_id: WEBHOOK_ID, delivery_id: DELIVERY_ID, attempt: 2 }],
};

export const delivery = {
  delivery_id: DELIVERY_ID,
  event_id: EVENT_ID,
  event: 'loan_received',
  originator_proposal_code: CODE,
  fund_id: FUND,
  status: 'delivered',
  attempts: 1,
  created_at: RECEIVED,
  last_attempt_at: '2026-01-15T12:00:01.000Z',
  next_attempt_at: null,
  delivered_at: '2026-01-15T12:00:01.250Z',
  last_response_status: 200,
  last_error: null,
  attempt_log: [
    { attempt: 1, at: '2026-01-15T12:00:01.000Z', duration_ms: 250, response_status: 200, error: null },
  ],
};

export const pinged = {
  event_id: EVENT_ID,
  deliveries: [{ webhook_id: WEBHOOK_ID, delivery_id: DELIVERY_ID, attempt: 1 }],
};

export const eventReport = {
  event_id: EVENT_ID,
  event: 'loan_received',
  body: JSON.stringify({
    ...{ event: 'loan_received', event_id: EVENT_ID, originator_proposal_code: CODE, fund_id: FUND },
    ...{ timestamp: RECEIVED, sequence: 0, api_version: '2026.11.2' },
    data: { status: 'received', received_at: RECEIVED, acquisition_value: 1800, number_of_installments: 2 },
  }),
  deliveries: [
    {
      webhook_id: WEBHOOK_ID,
      ...delivery,
      attempt_log: [{ ...delivery.attempt_log[0], response_body: '{"taken":true}' }],
    },
  ],
};
