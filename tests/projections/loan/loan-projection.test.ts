import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import {
  NOW,
  activated,
  approved,
  becameOverdue,
  disbursed,
  paid,
  prepay,
  received,
  rejected,
  repurchaseCompleted,
  repurchaseRequested,
  termSigned,
  underpaid,
} from '../../domain/support/loan-story.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { SealedText } from '../../../domain/shared/private-text.ts';
import { second } from './projected-events.ts';
import { rowsAfter } from './projected-rows.ts';

const STREAM = 'loan-app-1.L1';

describe('the status of an operation', () => {
  test('keeps its history with the time of each change', () => {
    const events = [
      ...activated,
      paid('001'),
      repurchaseRequested('repurchase'),
      repurchaseCompleted('repurchase', 'repurchased'),
    ];
    expect(rowsAfter(events).history).toEqual([
      { stream: STREAM, revision: 0, status: 'received', at: NOW },
      { stream: STREAM, revision: 1, status: 'approved', at: NOW },
      { stream: STREAM, revision: 2, status: 'term_signed', at: NOW },
      { stream: STREAM, revision: 3, status: 'active', at: NOW },
      { stream: STREAM, revision: 5, status: 'repurchase_pending', at: NOW },
      { stream: STREAM, revision: 6, status: 'repurchased', at: NOW },
    ]);
  });

  test('says since when it waits for a decision, and nothing while it waits for none', () => {
    const approvedAt = second(1);
    const events = [
      received,
      { ...approved, approvedAt },
      { ...termSigned, signedAt: second(2) },
      disbursed,
      paid('001'),
      { ...repurchaseRequested('repurchase'), calculatedAt: second(3) },
      repurchaseCompleted('repurchase', 'repurchased'),
    ];
    const since = events.map((_, index) => rowsAfter(events.slice(0, index + 1)).loan?.waiting_since);
    expect(since).toEqual([NOW, approvedAt, second(2), null, null, second(3), null]);
    expect(rowsAfter([received, { ...approved, approvedAt }, rejected]).loan?.waiting_since).toBeNull();
  });

  test('moves the version and the time with every event, also with one that shows nothing', () => {
    const events = [...activated, paid('001', '900.00'), underpaid('001', '900.00', '50.00')];
    events.forEach((_, index) => {
      const { loan } = rowsAfter(events.slice(0, index + 1));
      expect(loan).toMatchObject({ version: index, updated_at: second(index) });
    });
  });

  test('of a rejection comes with its reasons', () => {
    const reasons = [{ code: 'fund_closed', message: 'the fund takes no more operations' }];
    const { loan } = rowsAfter([received, rejected]);
    expect([loan?.status, JSON.parse(String(loan?.rejection_reasons))]).toEqual(['rejected', reasons]);
  });
});

describe('the installments of an operation', () => {
  test('are pending from the beginning, and frozen where it is rejected', () => {
    for (const events of [
      [received],
      [received, approved],
      [received, approved, termSigned],
      [received, approved, termSigned, disbursed],
    ])
      expect(new Set(rowsAfter(events).installments.map(({ status }) => status))).toEqual(
        new Set(['pending']),
      );
    const { installments } = rowsAfter([received, rejected]);
    expect(new Set(installments.map(({ status }) => status))).toEqual(new Set(['frozen']));
  });

  test('freeze when a repurchase is asked for', () => {
    const frozen = [...activated, paid('001'), becameOverdue('002'), repurchaseRequested('repurchase')];
    const { installments } = rowsAfter(frozen);
    expect(installments.slice(0, 3).map(({ status }) => status)).toEqual(['settled', 'overdue', 'frozen']);
    expect(installments.filter(({ status }) => status === 'pending')).toEqual([]);
    const ended = rowsAfter([...frozen, repurchaseCompleted('repurchase', 'repurchased')]);
    expect(ended.installments).toEqual(installments);
  });
});

describe('a prepayment', () => {
  const history = [...activated, ...['001', '002', '003', '004', '005'].map((code) => paid(code))];
  const state = history.reduce(
    (before, event) => loanDecider.evolve(before, event),
    loanDecider.initialState,
  );

  test('stands beside those before it, and so does its credit', () => {
    const first = loanDecider.decide(prepay('100.00', '2026-06-20'), state);
    const then = first.reduce((before, event) => loanDecider.evolve(before, event), state);
    const second = loanDecider.decide(prepay('50.00', '2026-06-21'), then);
    const { credits, prepayments } = rowsAfter([...history, ...first, ...second]);
    const none = { settled_installments: '[]', excess_value: 0 };
    expect(prepayments).toMatchObject([
      { value: 10_000, date: '2026-06-20', ...none },
      { value: 5_000, date: '2026-06-21', ...none },
    ]);
    expect(credits).toMatchObject([
      { installment_code: '012', revision: 9, date: '2026-06-20' },
      { installment_code: '012', revision: 10, date: '2026-06-21' },
    ]);
  });
});

describe('a disbursement', () => {
  test('is kept with what the decision stated, and with its time', () => {
    const stated = { ...disbursed, disbursementDate: calendarDate('2026-01-16') };
    for (const [event, day] of [
      [disbursed, {}],
      [stated, { date: '2026-01-16' }],
    ] as const) {
      const { loan } = rowsAfter([received, approved, termSigned, event]);
      const { disbursedValue: value, disbursedAt } = event;
      expect(JSON.parse(String(loan?.disbursement))).toEqual({ value, ...day, disbursedAt });
    }
    expect(rowsAfter([received, approved, termSigned]).loan?.disbursement).toBeNull();
  });
});

describe('a repurchase', () => {
  test('is kept as it was asked for, and its completion beside it', () => {
    const asked = [...activated, repurchaseRequested('repurchase')];
    const request = {
      reason: 'repurchase',
      effectiveDate: '2026-06-20',
      repurchaseValue: 614_733,
      calculatedValue: 614_733,
      calculatedAt: NOW,
    };
    const pending = rowsAfter(asked).loan;
    expect(JSON.parse(String(pending?.repurchase))).toEqual(request);
    expect(pending?.repurchase_completed_at).toBeNull();
    const completed = rowsAfter([...asked, repurchaseCompleted('repurchase', 'repurchased')]).loan;
    expect(JSON.parse(String(completed?.repurchase))).toEqual(request);
    expect(completed?.repurchase_completed_at).toBe(NOW);
  });
});

describe('what may name a person', () => {
  const sealed = { sealed: 'key.v1.text' as SealedText };
  const documents = [
    { ...received.documents[0]!, value: { ...sealed, digest: 'digest' } },
    { ...received.documents[0]!, documentId: 'd-2', value: 'CCB Ana 390.533.447-05.pdf' },
  ];
  const story = [
    ...[{ ...received, documents }, ...activated.slice(1)],
    { ...repurchaseRequested('resolution'), reasonDetail: 'Ana asked for it' },
  ];

  test('stands in the rows as its event holds it, sealed or of an earlier version plain', () => {
    const rows = rowsAfter(story);
    expect(rows.documents.map(({ value }) => JSON.parse(String(value)))).toEqual([
      sealed,
      'CCB Ana 390.533.447-05.pdf',
    ]);
    expect(rows.loan?.reason_detail).toBe('"Ana asked for it"');
    const later = rowsAfter([...activated, { ...repurchaseRequested('resolution'), reasonDetail: sealed }]);
    expect(JSON.parse(String(later.loan?.reason_detail))).toEqual(sealed);
  });

  test('is gone from the rows once the borrower is forgotten, whatever the events hold', () => {
    const rows = rowsAfter([...story, { type: 'BorrowerForgotten', forgottenAt: NOW }]);
    expect([rows.loan?.borrower, rows.loan?.reason_detail]).toEqual(['', '']);
    expect(rows.documents.map(({ value }) => value)).toEqual(['', '']);
    expect(JSON.stringify(rows)).not.toContain('Ana');
  });
});

describe('further documents', () => {
  test('stand beside those of the reception, and move the version', () => {
    const document = {
      documentId: 'd-2',
      type: 'invoice',
      value: 'b.pdf',
      sha256: 'cd'.repeat(32),
      size: 7,
      receivedAt: NOW,
    };
    const { documents, loan } = rowsAfter([
      ...activated,
      { type: 'DocumentsAdded', documents: [document], addedAt: NOW },
    ]);
    expect(documents.map(({ value, revision, seq }) => [value, revision, seq])).toEqual([
      ['"ccb.pdf"', 0, 0],
      ['"b.pdf"', 4, 0],
    ]);
    expect([loan?.version, loan?.status]).toEqual([4, 'active']);
  });
});
