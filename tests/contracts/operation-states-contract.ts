import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Worklists } from '../../application/administrator/worklists.ts';
import { countStates, holdsOperations } from '../../application/loans/operation-states.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { approved, disbursed, repurchaseRequested, termSigned } from '../domain/support/loan-story.ts';
import type { LoanReaderUnderTest } from './loan-reader-samples.ts';
import { assign, newOperation } from './loan-reader-samples.ts';

interface Fixture {
  readonly database: SqlDatabase;
  readonly worklists: Worklists;
  readonly project: LoanReaderUnderTest['project'];
}

/** Registers every promise of the port as a test of this adapter. */
export const describeOperationStatesContract = (
  adapter: string,
  open: () => Promise<Fixture & { close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps the promises of the states of operations`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    const fundId = randomUUID();
    const applicationId = randomUUID();
    const stories = {
      LATER: [approved],
      ACTIVE: [approved, termSigned, disbursed],
      SIGNED: [approved, termSigned],
      EXITING: [approved, termSigned, disbursed, repurchaseRequested('cession_reversal')],
    };

    beforeAll(async () => {
      fixture = await open();
      const reader = { project: fixture.project } as LoanReaderUnderTest;
      for (const [code, then] of Object.entries(stories))
        await assign(reader, { applicationId, code }, { fundId: fundId as never, then });
      await assign(reader, { ...newOperation('ELSEWHERE') });
    });
    afterAll(() => fixture.close());

    test('what waits is found by fund and by application, with the time of its state; what runs is not', async () => {
      for (const query of [{ fundId }, { applicationId }, { fundId, applicationId }]) {
        const pending = await fixture.worklists.pending(query);
        expect(pending.map(({ code, status }) => [code, status]).toSorted()).toEqual([
          ['EXITING', 'repurchase_pending'],
          ['LATER', 'approved'],
          ['SIGNED', 'term_signed'],
        ]);
        const later = pending.find(({ code }) => code === 'LATER')!;
        expect(later).toMatchObject({ applicationId, fundId, since: approved.approvedAt });
        expect(pending.map(({ since }) => since)).toEqual(pending.map(({ since }) => since).toSorted());
      }
      expect(await fixture.worklists.pending({ fundId: randomUUID() })).toEqual([]);
    });

    test('states are counted over all applications, and the oldest is told where somebody waits', async () => {
      const counts = new Map((await countStates(fixture.database)).map((one) => [one.status, one]));
      expect(counts.get('active')).toMatchObject({ oldestSince: null });
      expect(counts.get('approved')!.operations).toBeGreaterThanOrEqual(1);
      expect(counts.get('approved')!.oldestSince! <= approved.approvedAt).toBe(true);
      expect(counts.get('received')!.operations).toBeGreaterThanOrEqual(1);
    });

    test('a fund holds something, or nothing', async () => {
      expect([
        await holdsOperations(fixture.database, fundId),
        await holdsOperations(fixture.database, randomUUID()),
      ]).toEqual([true, false]);
    });
  });
};
