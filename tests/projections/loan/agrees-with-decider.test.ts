import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Installment } from '../../../domain/installment/installment.ts';
import { installmentsOf } from '../../../domain/loan/state.ts';
import type { Row } from '../../../projections/projection.ts';
import { anyStory } from '../../domain/support/stories.ts';
import { rowsAfter } from './projected-rows.ts';

const shown = (installment: Installment) => {
  const { code, status } = installment;
  switch (installment.status) {
    case 'pending':
    case 'overdue':
      return { code, status, credits: installment.credits };
    case 'prepaid':
      return { code, status, settledAt: installment.settledAt, paymentMethod: installment.paymentMethod };
    case 'settled':
      return {
        code,
        status,
        settledAt: installment.settledAt,
        settledValue: installment.settledValue,
        paymentMethod: installment.paymentMethod,
      };
  }
};

const projectedInstallment = (row: Row, credits: readonly Row[]) => {
  const { code } = row;
  const status = row.status === 'frozen' ? 'pending' : row.status;
  const paid = { code, status, settledAt: row.settled_at, paymentMethod: row.payment_method };
  if (status === 'settled') return { ...paid, settledValue: row.settled_value };
  if (status === 'prepaid') return paid;
  const own = credits.filter((credit) => credit.installment_code === code);
  return { code, status, credits: own.map(({ value, date }) => ({ value, date })) };
};

test('whatever happens to an operation, the read model shows what the rules know of it', () => {
  fc.assert(
    fc.property(anyStory, ({ events, state }) => {
      const { loan, installments, credits, documents } = rowsAfter(events);
      expect(loan?.status).toBe(state.status);
      expect(loan?.received_value).toBe('receivedValue' in state ? state.receivedValue : 0);
      expect(loan?.version).toBe(events.length - 1);
      expect(documents.map(({ document_id: id, value }) => [id, value])).toEqual(
        'documents' in state
          ? state.documents.map(({ documentId, value }) => [documentId, JSON.stringify(value)])
          : [],
      );
      if (!('changed' in state)) return;
      const rows = installments.toSorted((a, b) => Number(a.seq) - Number(b.seq));
      expect(rows.map((row) => projectedInstallment(row, credits))).toEqual(installmentsOf(state).map(shown));
    }),
    { numRuns: 150 },
  );
});
