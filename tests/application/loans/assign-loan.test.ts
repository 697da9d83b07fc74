import { describe, expect, test } from '@jest/globals';
import type { AskedAssignment } from '../../../application/loans/assign-loan.ts';
import type { DocumentStore, FileKind, ReceivedFile } from '../../../application/ports/document-store.ts';
import type { FundId } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { FUND, commandHandler, context, fixedClock, openVault } from '../../support/application-parts.ts';
import { assignmentOf, loansOver } from '../../support/loans-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { inspectorOf, receivedFile } from '../../support/received-file.ts';

class MemoryDocuments implements Pick<DocumentStore, 'put' | 'get'> {
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
const input = (changes: Partial<AskedAssignment> = {}): AskedAssignment => assignmentOf(file(), changes);

const world = (kind: FileKind = 'pdf') => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const loans = () =>
    loansOver({
      commands: commandHandler(store),
      vault: openVault,
      documents,
      inspector: inspectorOf(kind),
      clock: fixedClock(),
    });
  return { store, documents, loans };
};
const stored = async (store: InMemoryEventStore, stream = 'loan-app-1.L1') =>
  (await store.read(stream)).events;

describe('assign a loan', () => {
  test('is received, its documents are stored before the event names them', async () => {
    const { store, documents, loans } = world();
    const { replayed, result } = await loans().assign(context(), input());
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
    const { store, loans } = world();
    const first = loans();
    await first.assign(context(), input());
    for (const again of [first, loans()]) {
      const { replayed, result } = await again.assign(context('app-1', 'req-2'), input());
      expect({ replayed, status: result.status }).toEqual({ replayed: true, status: 'received' });
    }
    expect(await stored(store)).toHaveLength(1);
  });

  test.each<[string, Partial<AskedAssignment>]>([
    ['another value', { acquisitionValue: cents(999_999) }],
    ['another file content', { files: [file('ccb.pdf', 'bb'.repeat(32))] }],
    ['another borrower', { borrower: { ...input().borrower, name: 'Bia' } }],
    ['one installment less', { installments: receiveL1.installments.slice(1) }],
  ])('the same code with %s conflicts', async (_, changes) => {
    const { store, loans } = world();
    await loans().assign(context(), input());
    await expect(loans().assign(context(), input(changes))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await stored(store)).toHaveLength(1);
  });

  test('the same code of another application is another operation', async () => {
    const { store, loans } = world();
    await loans().assign(context(), input());
    expect((await loans().assign(context('app-2'), input())).replayed).toBe(false);
    expect(await stored(store, 'loan-app-2.L1')).toHaveLength(1);
  });

  test('a fund of somebody else is refused before anything else', async () => {
    const { store, loans } = world();
    const foreign = input({ fundId: '11111111-1111-4111-8111-111111111111' as FundId });
    await expect(loans().assign(context(), foreign)).rejects.toMatchObject({
      code: 'fund_not_allowed',
      details: [{ field: 'fund_id', code: 'fund_not_allowed' }],
    });
    expect(await stored(store)).toHaveLength(0);
  });

  test('a Word document is no backing document', async () => {
    const { loans } = world('docx');
    await expect(loans().assign(context(), input())).rejects.toMatchObject({
      code: 'invalid_file',
      details: [{ field: 'files[0]' }],
    });
  });

  test('a document that cannot be stored leaves no event; the same request works later', async () => {
    const { store, documents, loans } = world();
    documents.failing = true;
    await expect(loans().assign(context(), input())).rejects.toThrow('disk full');
    expect(await stored(store)).toHaveLength(0);
    documents.failing = false;
    expect((await loans().assign(context(), input())).replayed).toBe(false);
  });

  test('the same request sent three times in one moment: one carries it out, two replay it', async () => {
    const { store, loans } = world();
    const shared = loans();
    const all = await Promise.all([shared, shared, loans()].map((each) => each.assign(context(), input())));
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await stored(store)).toHaveLength(1);
  });
});
