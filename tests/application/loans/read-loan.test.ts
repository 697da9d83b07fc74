import { beforeEach, describe, expect, test } from '@jest/globals';
import { LoanReading, ReadModelBehindError } from '../../../application/loans/read-loan.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import { context, fixedClock, openVault } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MortalEventStore } from '../../support/mortal-event-store.ts';
import { ProjectedLoans } from '../../support/projected-loans.ts';
import {
  MemoryDocuments,
  activeLoan,
  newProposal,
  pay,
  renegotiation,
  startProcess,
} from '../../support/renegotiation-world.ts';

let store: LoggedStore;
let documents: MemoryDocuments;
let loans: ProjectedLoans;
let waits: string[];
let behind: boolean;
let projected: number;

class LoggedStore extends InMemoryEventStore {
  get events(): readonly RecordedEvent[] {
    return this.log;
  }
}

const catchUp = (): void => {
  loans.project(...store.events.slice(projected));
  projected = store.events.length;
};
/** The projector of this test never works by itself: a wait lets it catch up, unless it is behind for good. */
const progress = {
  waitForVersion: (stream: string): Promise<boolean> => {
    waits.push(stream);
    if (!behind) catchUp();
    return Promise.resolve(!behind);
  },
};
const read = (code: string) =>
  new LoanReading({ events: store, loans, progress, vault: openVault, clock: fixedClock() }).read(
    context(),
    code,
  );

beforeEach(async () => {
  store = new LoggedStore();
  documents = new MemoryDocuments();
  loans = new ProjectedLoans();
  [waits, behind, projected] = [[], false, 0];
  await activeLoan(startProcess(store, { documents }), documents, 'L1');
});

/** The renegotiation of L1 by a process that dies with the answer of its n-th append. */
const dyingAfter = async (appends: number): Promise<void> => {
  const mortal = new MortalEventStore(store, appends, 'after');
  void startProcess(mortal, { documents }).renegotiate.execute(context(), renegotiation());
  await mortal.died;
};
const [RESERVED, COMMITTED, ORIGINAL_DONE] = [3, 4, 5];

describe('a read after a write', () => {
  test('sees it: the read model is waited for where it is behind', async () => {
    expect((await read('L1'))?.status).toBe('active');
    await pay(startProcess(store).commands, 'L1', '001');
    expect((await read('L1'))?.installments[0]?.status).toBe('settled');
    expect(waits).toHaveLength(2);
    await read('L1');
    expect(waits).toHaveLength(2);
  });

  test('is not answered with something old', async () => {
    behind = true;
    await expect(read('L1')).rejects.toBeInstanceOf(ReadModelBehindError);
  });

  test('of both sides of a renegotiation', async () => {
    await startProcess(store, { documents }).renegotiate.execute(context(), renegotiation());
    expect(await read('L1')).toMatchObject({ status: 'renegotiated', renegotiation: { role: 'original' } });
    expect(await read('N1')).toMatchObject({
      status: 'received',
      renegotiation: { role: 'new' },
      borrower: { name: 'Ana' },
    });
  });
});

describe('while a renegotiation is under way', () => {
  test('before it is decided the original is active and the new code stands for nothing, without waiting', async () => {
    await dyingAfter(RESERVED);
    expect((await read('L1'))?.status).toBe('active');
    waits = [];
    behind = true;
    expect(await read('N1')).toBeUndefined();
    expect(waits).toEqual([]);
  });

  test('a code that was given back stands for nothing either', async () => {
    const late = newProposal({ dateIssued: '2027-01-01' as never });
    const { renegotiate } = startProcess(store, { documents });
    await renegotiate.execute(context(), renegotiation(['L1'], { newProposal: late })).catch(() => undefined);
    behind = true;
    expect(await read('N1')).toBeUndefined();
    behind = false;
    expect((await read('L1'))?.status).toBe('active');
  });

  test.each([
    ['decided and nothing carried out', COMMITTED],
    ['carried out for the original only', ORIGINAL_DONE],
  ])('%s: both sides have changed as soon as one of them has', async (_, appends) => {
    await dyingAfter(appends);
    catchUp();
    expect([(await read('L1'))?.status, (await read('N1'))?.status]).toEqual(['renegotiated', 'received']);
  });
});
