import { describe, expect, test } from '@jest/globals';
import { CompleteRenegotiations } from '../../../application/renegotiation/followers.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import { NOW, context, openlySealed } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MemoryCheckpoints, oneLookAtTheLog } from '../../support/log-followers.ts';
import { ProjectedLoans } from '../../support/projected-loans.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import {
  APPLICATION,
  MemoryDocuments,
  activation,
  activeLoan,
  ana,
  command,
  logOf,
  newProposal,
  pay,
  renegotiation,
  startProcess,
  streamOf,
} from '../../support/renegotiation-world.ts';
import { receivedFile } from '../../support/received-file.ts';

const ORIGINALS = ['L1', 'L2'];
const TERMS = { originalProposalCodes: ORIGINALS, newProposalCode: 'N1', effectiveDate: '2026-06-20' };

/** A renegotiation that fails, then one that goes through to the end. */
const told = async (): Promise<readonly RecordedEvent[]> => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const process = startProcess(store, { documents });
  for (const code of ORIGINALS) await activeLoan(process, documents, code);
  await pay(process.commands, 'L1', '001');
  const document = { documents: [{ type: 'renegotiation_document', value: 'debt.pdf' }] };
  const files = [receivedFile('debt.pdf', '', { size: 3, sha256: 'cc'.repeat(32) })];
  const late = newProposal({ ...document, dateIssued: '2027-01-01' as never });
  const renegotiate = (proposal: typeof late) =>
    process.renegotiation.renegotiate(context(), renegotiation(ORIGINALS, { newProposal: proposal, files }));
  await renegotiate(late).catch(() => undefined);
  await renegotiate(newProposal({ ...document, borrower: ana }));
  for (const step of activation) await command(process.commands, 'N1', step);
  const { subscription, signal } = oneLookAtTheLog(store);
  await new CompleteRenegotiations({
    events: store,
    commands: process.commands,
    subscription,
    checkpoints: new MemoryCheckpoints(),
    logger: new RecordingLogger(),
    sleep: () => Promise.resolve(),
  }).run(signal);
  return logOf(store);
};

describe('a renegotiation in the read model', () => {
  test('changes both sides in one event, and in no other', async () => {
    const loans = new ProjectedLoans();
    const seen: string[] = [];
    for (const recorded of await told()) {
      loans.project(recorded);
      const views = await Promise.all([...ORIGINALS, 'N1'].map((code) => loans.find(APPLICATION, code)));
      const [first, second, next] = views.map((view) => view?.loan.status ?? 'none');
      expect(first === 'renegotiated').toBe(next !== 'none');
      if (recorded.type.startsWith('renegotiation.') || first !== second) continue;
      seen.push(`${first} ${next}`);
    }
    expect([...new Set(seen)]).toEqual([
      'active none',
      'renegotiated received',
      'renegotiated approved',
      'renegotiated term_signed',
      'renegotiated active',
    ]);
  });

  test('leaves the originals as they were, frozen, and tells on both sides what became of them', async () => {
    const loans = new ProjectedLoans();
    loans.project(...(await told()));
    const [original, next] = await Promise.all(['L1', 'N1'].map((code) => loans.find(APPLICATION, code)));
    expect(original?.loan).toMatchObject({ status: 'renegotiated', received_value: 95_000 });
    expect(original?.installments.map(({ status }) => status).slice(0, 2)).toEqual(['settled', 'pending']);
    expect(JSON.parse(original?.loan.renegotiation ?? '')).toEqual({
      role: 'original',
      ...TERMS,
      completedAt: NOW,
    });
    expect(JSON.parse(next?.loan.renegotiation ?? '')).toEqual({ role: 'new', ...TERMS, completedAt: NOW });
    expect(next?.documents).toMatchObject([
      { type: 'renegotiation_document', value: JSON.stringify(openlySealed(streamOf('N1'), 'debt.pdf')) },
    ]);
    expect(next?.installments).toHaveLength(2);
    const pending = loans.rows('installment').filter(({ status }) => status === 'pending');
    expect(new Set(pending.map(({ stream }) => stream))).toEqual(new Set([streamOf('N1')]));
  });

  test('is not complete before the new operation is active', async () => {
    const log = await told();
    const loans = new ProjectedLoans();
    loans.project(...log.slice(0, log.findLastIndex(({ type }) => type === 'loan.term_signed.v1') + 1));
    for (const code of ['L1', 'N1']) {
      const view = await loans.find(APPLICATION, code);
      expect(JSON.parse(view?.loan.renegotiation ?? '').completedAt).toBeNull();
    }
  });

  test('brings every row to the version of its stream, and every status into the history once', async () => {
    const log = await told();
    const loans = new ProjectedLoans();
    loans.project(...log);
    for (const code of [...ORIGINALS, 'N1']) {
      const view = await loans.find(APPLICATION, code);
      const head = log.findLast(({ stream }) => stream === streamOf(code))?.revision;
      expect(BigInt(view?.loan.version ?? -1)).toBe(head);
      const statuses = view?.statusHistory.map(({ status }) => status) ?? [];
      expect(statuses).toEqual([
        ...['received', 'approved', 'term_signed', 'active'],
        ...(code === 'N1' ? [] : ['renegotiated']),
      ]);
    }
  });

  test('is the same when it is built again', async () => {
    const log = await told();
    const [once, again] = [new ProjectedLoans(), new ProjectedLoans()];
    once.project(...log);
    again.project(...log);
    for (const table of ['loan', 'installment', 'document', 'status_history']) {
      expect(again.rows(table)).toEqual(once.rows(table));
    }
  });
});
