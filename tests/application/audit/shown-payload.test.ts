import { describe, expect, test } from '@jest/globals';
import { shown } from '../../../application/audit/difference.ts';
import { showOperation } from '../../../application/audit/show-operation.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import { context, openVault, openlySealed, sealedName } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { receiveL1, requestRepurchase } from '../../domain/support/loan-story.ts';
import { carryOut, postAssignment, streamOf } from '../../support/post-assignment.ts';

const events = new InMemoryEventStore();
const { applicationId } = context();
const process = postAssignment({ store: events });
const show = () => showOperation({ events, vault: openVault }, { applicationId, code: 'L1' });
type Payload = ReturnType<typeof JSON.parse>;
const payloads = async (): Promise<readonly Payload[]> => (await show()).events.map(({ payload }) => payload);
const [document] = receiveL1.documents;
const { now } = receiveL1;

describe('what audit shows of an event', () => {
  test('has names and remarks opened, plain ones of earlier versions as well, and no borrower', async () => {
    const steps: readonly LoanCommand[] = [
      { ...receiveL1, applicationId: applicationId as never },
      ...(['ApproveLoan', 'SignLoanTerm', 'DisburseLoan'] as const).map((type) => ({ type, now })),
      { type: 'AddDocuments', documents: [{ ...document!, value: sealedName(streamOf(), 'b.pdf') }], now },
      { ...requestRepurchase('resolution'), reasonDetail: openlySealed(streamOf(), 'Ana asked') },
    ];
    for (const step of steps) await carryOut(process, step);
    const [received, , , , added, requested] = await payloads();
    expect(received).not.toHaveProperty('borrower');
    expect(received.documents).toMatchObject([{ document_id: 'd-1', value: 'ccb.pdf' }]);
    expect(added.documents).toMatchObject([{ value: 'b.pdf' }]);
    expect(requested.reason_detail).toBe('Ana asked');
  });

  test('has none of them once the borrower is forgotten', async () => {
    await carryOut(process, { type: 'ForgetBorrower', now });
    const [received, , , , added, requested] = await payloads();
    expect([received.documents[0].value, added.documents[0].value, requested.reason_detail]).toEqual([
      ...[null, null, null],
    ]);
    expect(JSON.stringify((await show()).events.map(({ payload }) => payload))).not.toMatch(/pdf|Ana/);
  });
});

test.each([
  ['borrower', 'x.v1.y'],
  ['received.data.borrower', 'x.v1.y'],
  ['reason_detail', 'Ana asked'],
  ['reason_detail.sealed', 'Ana asked'],
  ['documents', [{ value: 'Ana.pdf' }]],
  ['documents.0', { value: 'Ana.pdf' }],
  ['documents.0.value', 'Ana.pdf'],
  ['received.data.documents.3.value.sealed', 'Ana.pdf'],
])('a difference in %s shows no text', (path, value) => {
  expect(shown(path, value)).toMatch(/^\(private text of \d+ characters\)$/);
});

test.each([
  ['documents.0.sha256', 'abab'],
  ['partial.credit.value', '12.5'],
])('a difference in %s shows it', (path, value) => {
  expect(shown(path, value)).toBe(value);
});
