import { describe, expect, test } from '@jest/globals';
import { AssignLoan } from '../../../application/loans/assign-loan.ts';
import type { AssignLoanInput } from '../../../application/loans/inputs.ts';
import type { DocumentStore, FileKind, ReceivedFile } from '../../../application/ports/document-store.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { FundId, LoanCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { FUND, commandHandler, context, fixedClock, openVault } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { receivedFile } from '../../support/received-file.ts';

class MemoryDocuments implements DocumentStore {
  readonly stored: string[] = [];
  failing = false;
  put(stream: string, file: ReceivedFile): Promise<void> {
    if (this.failing) return Promise.reject(new Error('disk full'));
    this.stored.push(`${stream}/${file.sha256}`);
    return Promise.resolve();
  }
  get = () => Promise.resolve(undefined);
}

const file = (name = 'ccb.pdf', sha256 = 'aa'.repeat(32)): ReceivedFile =>
  receivedFile(name, '', { size: 10, sha256 });
const input = (changes: Partial<AssignLoanInput> = {}): AssignLoanInput => ({
  fundId: FUND as FundId,
  code: 'L1' as LoanCode,
  productType: 'financing',
  acquisitionValue: receiveL1.acquisitionValue,
  dateIssued: receiveL1.dateIssued,
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Ana',
    birth_date: '1990-01-01',
    address: { zip_code: '01310100', street: 'A', number: '1', city: 'Sao Paulo', state: 'SP' },
  },
  installments: receiveL1.installments,
  documents: [{ type: 'ccb', value: 'ccb.pdf' }],
  files: [file()],
  ...changes,
});

const world = (kind: FileKind = 'pdf') => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const inspector = { inspect: () => Promise.resolve(kind) };
  const useCase = () =>
    new AssignLoan({
      commands: commandHandler(store),
      vault: openVault,
      documents,
      inspector,
      clock: fixedClock(),
    });
  return { store, documents, useCase };
};
const stored = async (store: InMemoryEventStore, stream = 'loan-app-1.L1') =>
  (await store.read(stream)).events;

describe('assign a loan', () => {
  test('is received, its documents are stored before the event names them', async () => {
    const { store, documents, useCase } = world();
    const { replayed, result } = await useCase().execute(context(), input());
    expect({ replayed, ...result }).toMatchObject({
      replayed: false,
      code: 'L1',
      status: 'received',
      fundId: FUND,
    });
    expect(documents.stored).toEqual([`loan-app-1.L1/${'aa'.repeat(32)}`]);
    const [event] = await stored(store);
    expect(event?.type).toBe('loan.received.v1');
    expect(event?.data).toContain('"daily_factor":"0.999321899697897308243314396013"');
  });

  test('the same request again answers the current state and stores nothing, in any process', async () => {
    const { store, useCase } = world();
    const first = useCase();
    await first.execute(context(), input());
    for (const again of [first, useCase()]) {
      const { replayed, result } = await again.execute(context('app-1', 'req-2'), input());
      expect({ replayed, status: result.status }).toEqual({ replayed: true, status: 'received' });
    }
    expect(await stored(store)).toHaveLength(1);
  });

  test.each<[string, Partial<AssignLoanInput>]>([
    ['another value', { acquisitionValue: cents(999_999) }],
    ['another file content', { files: [file('ccb.pdf', 'bb'.repeat(32))] }],
    ['another borrower', { borrower: { ...input().borrower, name: 'Bia' } }],
    ['one installment less', { installments: receiveL1.installments.slice(1) }],
  ])('the same code with %s conflicts', async (_, changes) => {
    const { store, useCase } = world();
    await useCase().execute(context(), input());
    await expect(useCase().execute(context(), input(changes))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await stored(store)).toHaveLength(1);
  });

  test('the same code of another application is another operation', async () => {
    const { store, useCase } = world();
    await useCase().execute(context(), input());
    expect((await useCase().execute(context('app-2'), input())).replayed).toBe(false);
    expect(await stored(store, 'loan-app-2.L1')).toHaveLength(1);
  });

  test('a fund of somebody else is refused before anything else', async () => {
    const { store, useCase } = world();
    const foreign = input({ fundId: '11111111-1111-4111-8111-111111111111' as FundId });
    await expect(useCase().execute(context(), foreign)).rejects.toMatchObject({ code: 'fund_not_allowed' });
    expect(await stored(store)).toHaveLength(0);
  });

  test('a Word document is no backing document', async () => {
    const { useCase } = world('docx');
    await expect(useCase().execute(context(), input())).rejects.toBeInstanceOf(DomainError);
  });

  test('a document that cannot be stored leaves no event; the same request works later', async () => {
    const { store, documents, useCase } = world();
    documents.failing = true;
    await expect(useCase().execute(context(), input())).rejects.toThrow('disk full');
    expect(await stored(store)).toHaveLength(0);
    documents.failing = false;
    expect((await useCase().execute(context(), input())).replayed).toBe(false);
  });

  test('the same request sent three times in one moment: one carries it out, two replay it', async () => {
    const { store, useCase } = world();
    const shared = useCase();
    const all = await Promise.all(
      [shared, shared, useCase()].map((each) => each.execute(context(), input())),
    );
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await stored(store)).toHaveLength(1);
  });
});
