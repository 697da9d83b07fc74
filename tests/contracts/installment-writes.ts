import fc from 'fast-check';
import type { Row, TableWrite } from '../../projections/projection.ts';

const key = fc.record({
  stream: fc.constantFrom('one', 'other'),
  code: fc.constantFrom('001', '002', '003'),
});

/** Updates and deletions of installments, many of them of the same rows, some by a part of the key, some of rows that are not there. */
export const installmentWrite = (): fc.Arbitrary<TableWrite> => {
  const table = 'installment';
  const where = fc.oneof(
    { weight: 4, arbitrary: key },
    key.map(({ stream }): Row => ({ stream })),
  );
  const status = fc.constantFrom('settled', 'pending', 'overdue');
  const settled = fc.record({ status, settled_value: fc.constantFrom(7, 2 ** 40, null) });
  const added = fc.integer({ min: -5, max: 5 }).map((by) => ({ face_value: by }));
  const update = fc
    .tuple(where, fc.oneof(settled, fc.record({ status })), fc.option(added))
    .map(([keys, set, add]): TableWrite => ({ op: 'update', table, where: keys, set, ...(add && { add }) }));
  const deleted = where.map((keys): TableWrite => ({ op: 'delete', table, where: keys }));
  const ofAnotherKey = fc.constant<TableWrite>({
    ...{ op: 'update', table, where: { stream: 'one', status: 'settled' } },
    set: { status: 'pending' },
  });
  return fc.oneof({ weight: 20, arbitrary: update }, { weight: 2, arbitrary: ofAnotherKey }, deleted);
};

/** Some that the writes are about, and some that they never are. */
export const installments = (): TableWrite => ({
  op: 'insert',
  table: 'installment',
  rows: ['one', 'other', 'third'].flatMap((stream) =>
    ['001', '002', '003'].map((code, seq) => ({
      ...{ stream, code, seq, due_date: '2026-02-01', face_value: 100, status: 'pending' },
      ...{ settled_at: null, settled_value: null, payment_method: null, recorded_at: null },
    })),
  ),
});
