import { describe, expect, test } from '@jest/globals';
import { bodyOf, derivedId, toPublicEvent } from '../../../application/publication/public-events.ts';
import { EVENT_NAMES } from '../../../application/publication/catalogue.ts';
import type { LoanEvent } from '../../../domain/loan/events.ts';

const EVENT_ID = '0f8f5c0e-6a0f-4c5e-9d4e-3a6c0f2b7d11';
const FUND = '6d1c1a54-6a3e-4f5e-8f6a-0d5d9b0a2c33';
const RECORDED = '2026-06-20T12:00:00.123Z';
const PERSONAL = 'Maria da Silva 52998224725';

const place = {
  eventId: EVENT_ID,
  applicationId: 'app-1',
  fundId: FUND,
  code: 'OP-1',
  revision: 7n,
  recordedAt: RECORDED,
};

const pricing = { policy: 'curve_v1', dailyFactor: '0.999' };
const renegotiation = {
  renegotiationId: 'r-1',
  originalProposalCodes: ['OP-1', 'OP-2'],
  newProposalCode: 'OP-9',
  effectiveDate: '2026-06-20',
};
const partial = {
  installmentCode: '003',
  credit: { value: '1.5', date: '2026-06-20' },
  outstandingAtDue: 90010,
};
const prepayment = {
  type: 'PrepaymentProcessed',
  prepaymentValue: 200000,
  prepaymentDate: '2026-06-20',
  paymentMethod: 'pix',
  settledInstallments: ['001', '002'],
  payoffValue: 1000000,
  remainingBalance: 800050,
  excessValue: 0,
  pricing,
  lines: [],
  processedAt: RECORDED,
};

/** Stored events as plain objects, each with the name and the data that the interface decisions give for it. */
const published: readonly [event: object, name: string, data: string][] = [
  [
    {
      type: 'LoanReceived',
      applicationId: 'app-1',
      fundId: FUND,
      code: 'OP-1',
      productType: 'financing',
      acquisitionValue: 1000000,
      dateIssued: '2026-01-15',
      installments: [{ code: '001', dueDate: '2026-02-15', faceValue: 95000 }],
      borrower: PERSONAL,
      documents: [
        { documentId: 'd', type: 'ccb', value: 'ccb.pdf', sha256: 'x', size: 1, receivedAt: RECORDED },
      ],
      pricing,
      receivedAt: RECORDED,
    },
    'loan_received',
    `{"status":"received","received_at":"${RECORDED}","acquisition_value":10000.00,"number_of_installments":1}`,
  ],
  [
    { type: 'LoanApproved', approvedAt: RECORDED },
    'loan_approved',
    `{"status":"approved","approved_at":"${RECORDED}"}`,
  ],
  [
    {
      type: 'LoanRejected',
      rejectedAt: RECORDED,
      reasons: [{ code: 'limit', message: 'too much', internal: PERSONAL }],
    },
    'loan_rejected',
    `{"status":"rejected","rejected_at":"${RECORDED}","reasons":[{"code":"limit","message":"too much"}]}`,
  ],
  [
    { type: 'LoanTermSigned', signedAt: RECORDED },
    'loan_term_signed',
    `{"status":"term_signed","signed_at":"${RECORDED}"}`,
  ],
  [
    { type: 'LoanDisbursed', disbursedValue: 1000000, disbursedAt: RECORDED },
    'disbursement_completed',
    `{"status":"active","disbursed_value":10000.00,"disbursed_at":"${RECORDED}"}`,
  ],
  // The sandbox's own step: nobody stated the day.
  [
    {
      type: 'LoanDisbursed',
      disbursedValue: 1000000,
      disbursedAt: RECORDED,
      disbursementDate: '2026-07-01',
    },
    'disbursement_completed',
    `{"status":"active","disbursed_value":10000.00,"disbursed_at":"${RECORDED}"}`,
  ],
  [
    {
      type: 'LoanDisbursed',
      disbursedValue: 1000000,
      disbursedAt: RECORDED,
      disbursementDate: '2026-06-19',
      decision: { decidedAt: RECORDED },
    },
    'disbursement_completed',
    `{"status":"active","disbursed_value":10000.00,"disbursed_at":"${RECORDED}","disbursement_date":"2026-06-19"}`,
  ],
  [
    {
      type: 'InstallmentUnderpaid',
      installmentCode: '001',
      scheduledValue: 95000,
      settledValue: 90050,
      difference: 4950,
      settledAt: '2026-06-15',
      processedAt: RECORDED,
    },
    'installment_underpaid',
    '{"installment_code":"001","scheduled_value":950.00,"settled_value":900.50,"difference":49.50,"settled_at":"2026-06-15"}',
  ],
  [
    prepayment,
    'installment_prepaid',
    '{"prepayment_value":2000.00,"prepayment_date":"2026-06-20","settled_installments":["001","002"],"remaining_balance":8000.50,"excess_value":0.00}',
  ],
  [
    { ...prepayment, settledInstallments: [], partial },
    'installment_prepaid',
    '{"prepayment_value":2000.00,"prepayment_date":"2026-06-20","settled_installments":[],"remaining_balance":8000.50,"excess_value":0.00,"partially_paid":{"installment_code":"003","outstanding_value":900.10}}',
  ],
  [
    {
      type: 'LoanFullySettled',
      settledAt: '2026-06-15',
      closingEvent: 'installment_settled',
      totalReceived: 1140000,
      processedAt: RECORDED,
    },
    'loan_fully_settled',
    '{"status":"settled","settled_at":"2026-06-15","closing_event":"installment_settled","total_received":11400.00}',
  ],
  [
    {
      type: 'RepurchaseRequested',
      reason: 'repurchase',
      reasonDetail: PERSONAL,
      effectiveDate: '2026-06-20',
      repurchaseValue: 614733,
      calculatedValue: 614733,
      valueSource: 'calculated',
      pricing,
      lines: [],
      receivedValue: 0,
      calculatedAt: RECORDED,
    },
    'repurchase_received',
    `{"reason":"repurchase","effective_date":"2026-06-20","repurchase_value":6147.33,"calculated_at":"${RECORDED}","value_source":"calculated"}`,
  ],
  [
    {
      type: 'RepurchaseCompleted',
      reason: 'cession_reversal',
      repurchaseValue: 1,
      status: 'reversed',
      completedAt: RECORDED,
    },
    'repurchase_completed',
    `{"reason":"cession_reversal","repurchase_value":0.01,"status":"reversed","completed_at":"${RECORDED}"}`,
  ],
  [
    { type: 'LoanRenegotiationCompleted', renegotiation, completedAt: RECORDED },
    'renegotiation_completed',
    `{"original_proposal_codes":["OP-1","OP-2"],"new_proposal_code":"OP-9","effective_date":"2026-06-20","completed_at":"${RECORDED}"}`,
  ],
];

const settled = {
  type: 'InstallmentSettled',
  installmentCode: '001',
  settledAt: '2026-06-15',
  settledValue: 95000,
  scheduledValue: 95000,
  paymentMethod: 'pix',
  lateDays: 0,
  processedAt: RECORDED,
} as unknown as LoanEvent;

const publish = (event: object) => toPublicEvent(event as LoanEvent, place, '2026.1.0');

describe('a stored event goes out', () => {
  test.each(published)('%j as %s', (event, name, data) => {
    expect(publish(event)).toEqual({
      eventId: EVENT_ID,
      name,
      applicationId: 'app-1',
      fundId: FUND,
      code: 'OP-1',
      sequence: 7,
      timestamp: RECORDED,
      body:
        `{"event":"${name}","event_id":"${EVENT_ID}","originator_proposal_code":"OP-1","fund_id":"${FUND}",` +
        `"timestamp":"${RECORDED}","sequence":7,"api_version":"2026.1.0","data":${data}}`,
    });
  });

  test('as installment_settled also in its flat form', () => {
    expect(publish(settled)?.body).toBe(
      `{"event":"installment_settled","event_id":"${EVENT_ID}","originator_proposal_code":"OP-1","fund_id":"${FUND}",` +
        `"timestamp":"${RECORDED}","sequence":7,"api_version":"2026.1.0","installment_code":"001","settled_value":950.00,` +
        '"data":{"installment_code":"001","settled_at":"2026-06-15","settled_value":950.00,"scheduled_value":950.00,' +
        '"payment_method":"pix","late_days":0}}',
    );
  });

  test('without anything about the borrower, or anything else that is not listed', () => {
    for (const [event] of published) expect(JSON.stringify(publish(event))).not.toContain('Maria');
  });

  test('or stays inside', () => {
    const inside = [
      'InstallmentBecameOverdue',
      'DocumentsAdded',
      'LoanReserved',
      'LoanReservationReleased',
      'LoanRenegotiated',
    ];
    for (const type of inside) expect(publish({ type })).toBeUndefined();
  });

  test('under a name of the catalogue, and every name but the ping is used', () => {
    const names = [...published.map(([event]) => event as LoanEvent), settled].map(
      (event) => publish(event)!.name,
    );
    expect([...new Set(names), 'webhook.ping'].toSorted()).toEqual(EVENT_NAMES.toSorted());
  });

  test('the same way every time', () => {
    for (const [event] of published) expect(publish(event)).toEqual(publish(event));
  });
});

test('a ping names no operation and no fund', () => {
  const nowhere = { code: null, fundId: null, sequence: 0 };
  const ping = {
    name: 'webhook.ping',
    eventId: 'e',
    timestamp: RECORDED,
    apiVersion: '1',
    data: { message: 'm' },
    ...nowhere,
  };
  expect(JSON.parse(bodyOf(ping))).toMatchObject({
    originator_proposal_code: null,
    fund_id: null,
    data: { message: 'm' },
  });
});

test('derived ids follow RFC 9562', () => {
  // The example of appendix A.4: www.example.com in the DNS namespace.
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  expect(derivedId(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
});
