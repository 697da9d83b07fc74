import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  OperationQuarantinedError,
  ReadModelBehindError,
  fundOfLoan,
  listLoans,
  readLoan,
} from '../../../application/loans/read-loan.ts';
import { OwnWrites } from '../../../application/loans/read-model-progress.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { NOW, receiveL1 } from '../../domain/support/loan-story.ts';
import { context, fixedClock, openVault, openlySealed } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MortalEventStore } from '../../support/faulty-event-store.ts';
import { carryOut, postAssignment, prepayment, repurchase } from '../../support/post-assignment.ts';
import { ProjectedLoans } from '../../support/projected-loans.ts';
import {
  MemoryDocuments,
  activeLoan,
  command,
  newProposal,
  pay,
  renegotiation,
  startProcess,
  streamOf,
} from '../../support/renegotiation-world.ts';

let store: LoggedStore;
let documents: MemoryDocuments;
let loans: ProjectedLoans;
let waits: string[];
let waitedMs: number;
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
  waitForVersion: (stream: string, _revision: bigint, timeoutMs: number): Promise<boolean> => {
    waits.push(stream);
    waitedMs += behind ? timeoutMs : 0;
    if (!behind) catchUp();
    return Promise.resolve(!behind);
  },
};
const parts = (writes = new OwnWrites(100_000)): Parameters<typeof readLoan>[0] => ({
  events: store,
  loans,
  progress,
  writes,
  vault: openVault,
  documents,
  clock: fixedClock(),
});
const read = (code: string) => readLoan(parts(), context(), code);

beforeEach(async () => {
  store = new LoggedStore();
  documents = new MemoryDocuments();
  loans = new ProjectedLoans();
  [waits, waitedMs, behind, projected] = [[], 0, false, 0];
  await activeLoan(startProcess(store, { documents }), documents, 'L1');
});

test('the fund of an operation is known before its row is there, and of none where there is no operation', async () => {
  const { applicationId } = context();
  const fundOf = (code: string, row?: string) =>
    fundOfLoan({ events: store, loans: { fundOf: async () => row } }, applicationId, code);
  expect([await fundOf('L1'), await fundOf('NONE')]).toEqual([context().fundIds[0], undefined]);
  expect(await fundOf('L1', 'of-its-row')).toBe('of-its-row');
});

describe('the payoff value', () => {
  /** One installment a day after the issue: worth 1.00 then, more than every amount months later. */
  const growing = async (code: string, price: number): Promise<void> => {
    const one = { ...receiveL1.installments[0]!, dueDate: calendarDate('2026-01-16'), faceValue: cents(100) };
    await activeLoan(startProcess(store, { documents }), documents, code, {
      installments: [one],
      acquisitionValue: cents(price),
    });
  };

  test('is null once no amount can state it, and quotes and repurchases refuse on the same day', async () => {
    await growing('L8', 99);
    await growing('L9', 80);
    expect((await read('L8'))?.balances.payoffValue).toBeGreaterThan(100);
    expect((await read('L9'))?.balances.payoffValue).toBeNull();
    const quotes = postAssignment({ store }).loans;
    const code = 'L9' as LoanCode;
    const refusal = { code: 'invalid_date', details: [{ code: 'value_out_of_range' }] };
    await expect(quotes.quoteRepurchase(context(), repurchase({ code }))).rejects.toMatchObject(refusal);
    await expect(quotes.quotePrepayment(context(), prepayment('1.00', 'k', { code }))).rejects.toMatchObject(
      refusal,
    );
    const agreed = repurchase({ code, repurchaseValue: cents(100) });
    expect((await quotes.quoteRepurchase(context(), agreed)).repurchaseValue).toBe(100);
  });
});

describe('balances', () => {
  test('are nothing once the operation has left the portfolio, or is about to; installments keep what they owed', async () => {
    expect((await read('L1'))?.balances.openFaceValue).toBe(cents(1_140_000));
    const world = postAssignment({ store });
    await world.loans.repurchase(context(), repurchase());
    const pending = await read('L1');
    expect(pending).toMatchObject({
      loan: { status: 'repurchase_pending' },
      balances: { openFaceValue: 0, payoffValue: 0 },
    });
    expect(pending?.installments.every(({ outstandingValue }) => outstandingValue === 95_000)).toBe(true);
    await carryOut(world, { type: 'CompleteRepurchase', now: NOW });
    expect(await read('L1')).toMatchObject({
      loan: { status: 'repurchased' },
      balances: { openFaceValue: 0, payoffValue: 0 },
    });
  });
});

/** The renegotiation of L1 by a process that dies with the answer of its n-th append. */
const dyingAfter = async (appends: number): Promise<void> => {
  const mortal = new MortalEventStore(store, appends, 'after');
  void startProcess(mortal, { documents }).renegotiation.renegotiate(context(), renegotiation());
  await mortal.died;
};
const [RESERVED, COMMITTED, ORIGINAL_DONE] = [3, 4, 5];

describe('a read after a write', () => {
  test('sees it: the read model is waited for where it is behind', async () => {
    expect((await read('L1'))?.loan.status).toBe('active');
    await pay(startProcess(store).commands, 'L1', '001');
    expect((await read('L1'))?.installments[0]?.status).toBe('settled');
    expect(waits).toHaveLength(2);
    await read('L1');
    expect(waits).toHaveLength(2);
  });

  test('is not answered with something old', async () => {
    behind = true;
    await expect(read('L1')).rejects.toBeInstanceOf(ReadModelBehindError);
    expect(waitedMs).toBe(3_000);
  });

  test('is refused for good reason, and soon, where an operator has to help', async () => {
    behind = true;
    loans.held.add(streamOf('L1'));
    await expect(read('L1')).rejects.toBeInstanceOf(OperationQuarantinedError);
    expect(waitedMs).toBe(100);
  });

  test('of both sides of a renegotiation', async () => {
    await startProcess(store, { documents }).renegotiation.renegotiate(context(), renegotiation());
    expect(await read('L1')).toMatchObject({
      loan: { status: 'renegotiated' },
      renegotiation: { role: 'original' },
    });
    expect(await read('N1')).toMatchObject({
      loan: { status: 'received' },
      renegotiation: { role: 'new' },
      borrower: { name: 'Ana' },
    });
  });
});

describe('a list after a write', () => {
  const list = async (writes: OwnWrites): Promise<readonly string[]> =>
    (await listLoans(parts(writes), context(), { limit: 20 })).loans.map(
      ({ code, status }) => `${code} ${status}`,
    );

  test('shows it, and what it shows is not waited for again', async () => {
    const writes = new OwnWrites(100_000);
    await activeLoan(startProcess(store, { documents, writes }), documents, 'L2');
    expect(await list(writes)).toEqual(['L1 active', 'L2 active']);
    expect(waits).toEqual([streamOf('L2')]);
    await list(writes);
    expect(waits).toEqual([streamOf('L2')]);
  });

  test('is not answered without it', async () => {
    const writes = new OwnWrites(100_000);
    catchUp();
    behind = true;
    await pay(startProcess(store, { writes }).commands, 'L1', '001');
    await expect(list(writes)).rejects.toBeInstanceOf(ReadModelBehindError);
    behind = false;
    expect(await list(writes)).toEqual(['L1 active']);
  });

  test('shows one that is in quarantine as it was, and the others; it is waited for once', async () => {
    const writes = new OwnWrites(100_000);
    await activeLoan(startProcess(store, { documents, writes }), documents, 'L2');
    expect(await list(writes)).toEqual(['L1 active', 'L2 active']);
    await startProcess(store, { documents, writes }).renegotiation.renegotiate(
      context(),
      renegotiation(['L1']),
    );
    catchUp();
    await pay(startProcess(store, { writes }).commands, 'L2', '001');
    [behind, waits] = [true, []];
    loans.held.add(streamOf('L2'));
    for (let i = 0; i < 2; i++)
      expect(await list(writes)).toEqual(expect.arrayContaining(['L1 renegotiated', 'L2 active']));
    expect([waits, waitedMs]).toEqual([[streamOf('L2')], 100]);
  });

  test('does not wait for a code that was given back', async () => {
    const writes = new OwnWrites(100_000);
    const late = newProposal({ dateIssued: '2027-01-01' as never });
    const { renegotiation: one } = startProcess(store, { documents, writes });
    await one.renegotiate(context(), renegotiation(['L1'], { newProposal: late })).catch(() => undefined);
    expect(await list(writes)).toEqual(['L1 active']);
    expect(waits).not.toContain(streamOf('N1'));
  });
});

describe('file names and remarks', () => {
  const remark = {
    ...{ type: 'RequestRepurchase', reason: 'resolution', effectiveDate: '2026-06-20' },
    ...{ reasonDetail: openlySealed(streamOf('L1'), 'Ana asked for it'), now: '2026-06-20T12:00:00.000Z' },
  } as const;

  test('are read, those that an earlier version stored plainly as well, until the borrower is forgotten', async () => {
    const { commands } = startProcess(store, { documents });
    await command(commands, 'L1', remark as unknown as LoanCommand);
    const before = await read('L1');
    expect(before?.documents.map(({ value }) => value)).toEqual(['ccb.pdf']);
    expect(before?.repurchase).toMatchObject({ reason: 'resolution', reasonDetail: 'Ana asked for it' });
    await command(commands, 'L1', { type: 'ForgetBorrower', now: remark.now as never });
    const after = await read('L1');
    expect(after?.documents.map(({ value }) => value)).toEqual([null]);
    expect(after?.repurchase).toMatchObject({ reason: 'resolution', reasonDetail: null });
  });
});

describe('while a renegotiation is under way', () => {
  test('before it is decided the original is active and the new code stands for nothing, without waiting', async () => {
    await dyingAfter(RESERVED);
    expect((await read('L1'))?.loan.status).toBe('active');
    waits = [];
    behind = true;
    expect(await read('N1')).toBeUndefined();
    expect(waits).toEqual([]);
  });

  test('a code that was given back stands for nothing either', async () => {
    const late = newProposal({ dateIssued: '2027-01-01' as never });
    const { renegotiation: one } = startProcess(store, { documents });
    await one.renegotiate(context(), renegotiation(['L1'], { newProposal: late })).catch(() => undefined);
    behind = true;
    expect(await read('N1')).toBeUndefined();
    behind = false;
    expect((await read('L1'))?.loan.status).toBe('active');
  });

  test.each([
    ['decided and nothing carried out', COMMITTED],
    ['carried out for the original only', ORIGINAL_DONE],
  ])('%s: both sides have changed as soon as one of them has', async (_, appends) => {
    await dyingAfter(appends);
    catchUp();
    expect([(await read('L1'))?.loan.status, (await read('N1'))?.loan.status]).toEqual([
      'renegotiated',
      'received',
    ]);
  });
});
