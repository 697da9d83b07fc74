import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { decodeEvent, encodeEvent } from '../../../application/event-codec/event-codec.ts';
import {
  decisionEntries,
  deskEntries,
  fourEyesEntries,
} from '../../../application/event-codec/desk-entries.ts';
import { fundEntries, loanEntries, renegotiationEntries } from '../../../application/event-codec/entries.ts';
import { UnreadableEventError } from '../../../application/event-codec/fields.ts';
import type { JsonText } from '../../../application/ports/event-store.ts';
import type { DomainEvent } from '../../../domain/domain-event.ts';

interface Fixture {
  readonly type: string;
  readonly stored: Record<string, unknown>;
  readonly event: DomainEvent;
}
const folder = new URL('../../fixtures/stored-events/', import.meta.url);
const fixtures = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture,
);
/** Fields that came later, or that an event has only sometimes. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  'loan.received.v1': ['renegotiation', 'sandbox_outcome', 'sandbox_disbursement'],
  'loan.approved.v1': ['decision'],
  'loan.rejected.v1': ['decision'],
  'loan.term_signed.v1': ['decision'],
  'loan.disbursed.v1': ['disbursement_date', 'exit_basis', 'decision', 'renegotiation'],
  'loan.prepayment_processed.v1': ['partial'],
  'loan.repurchase_requested.v1': ['reason_detail'],
  'loan.repurchase_completed.v1': ['decision'],
  'loan.borrower_forgotten.v1': ['reason'],
  'desk.line_written.v1': [
    ...['issuer', 'subject', 'reason', 'application_id', 'fund_id', 'originator_proposal_code'],
    ...['document_id', 'decision', 'decision_id', 'count', 'sum'],
  ],
  'fund.four_eyes_set.v1': ['proposal_id'],
  'decision.awaiting.v1': ['reasons', 'disbursement_date', 'disbursed_value', 'note'],
};
const json = (value: unknown): JsonText => JSON.stringify(value) as JsonText;

describe('stored events', () => {
  test('every stored type that this version reads has a fixture', () => {
    const all = {
      ...loanEntries,
      ...fundEntries,
      ...renegotiationEntries,
      ...deskEntries,
      ...fourEyesEntries,
      ...decisionEntries,
    };
    const stored = Object.values(all).map(({ storedType }) => storedType);
    expect(new Set(fixtures.map((f) => f.type))).toEqual(new Set(stored));
  });

  test.each(fixtures)('$type of an earlier day still decodes', ({ type, stored, event }) => {
    expect(decodeEvent({ type, data: json(stored) })).toEqual(event);
  });

  test.each(fixtures)('$type is written as it was', ({ type, stored, event }) => {
    expect(encodeEvent(event)).toEqual({ type, data: json(stored) });
  });

  test.each(fixtures)(
    '$type without any one of its required fields is refused by name',
    ({ type, stored }) => {
      for (const field of Object.keys(stored).filter((f) => !OPTIONAL[type]?.includes(f))) {
        const { [field]: _, ...rest } = stored;
        expect(() => decodeEvent({ type, data: json(rest) })).toThrow(new RegExp(`${type}.*${field}`));
      }
    },
  );

  test('an unknown type and damaged text are unreadable, not guessed', () => {
    expect(() => decodeEvent({ type: 'loan.received.v99', data: json({}) })).toThrow(UnreadableEventError);
    expect(() => decodeEvent({ type: 'loan.approved.v1', data: '{"approved_at":' as JsonText })).toThrow(
      UnreadableEventError,
    );
  });

  test.each([100_000_000_000, Number.MAX_SAFE_INTEGER, 2 ** 53, -100_000_000_000])(
    'an amount of %d cents, which no request could state, is damage: sums of it are beyond what a table holds',
    (value) => {
      const { type, stored } = fixtures.find((one) => one.type === 'installment.settled.v1')!;
      const told = /installment\.settled\.v1.*settled_value should be an amount/;
      expect(() => decodeEvent({ type, data: json({ ...stored, settled_value: value }) })).toThrow(told);
      expect(decodeEvent({ type, data: json({ ...stored, settled_value: 99_999_999_999 }) })).toBeDefined();
    },
  );
});
