import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AskedAssignment } from '../../../application/loans/assign-loan.ts';
import { decodeLoanEvent } from '../../../application/event-codec/event-codec.ts';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import { L1, centsOf, scheduleOf } from '../../domain/support/finance-vectors.ts';
import { ISSUED, anyPosition, extremePosition } from '../../domain/support/positions.ts';
import {
  FUND,
  NOW,
  commandHandler,
  context,
  fixedClock,
  openVault,
} from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { assignmentOf, loansOver } from '../../support/loans-over.ts';
import { inspectorOf, receivedFile } from '../../support/received-file.ts';

const file = receivedFile('ccb.pdf', '%PDF-');
const asked = (changes: Partial<AskedAssignment> = {}): AskedAssignment => assignmentOf(file, changes);

/** Operations without a vault and a store for documents: whoever asked them would fail. */
const world = () => {
  const store = new InMemoryEventStore();
  const parts = { commands: commandHandler(store), inspector: inspectorOf('pdf'), clock: fixedClock() };
  const documents = { put: () => Promise.resolve() };
  const events = async () => (await store.read('loan-app-1.L1')).events;
  return {
    events,
    quoting: loansOver(parts),
    assigning: loansOver({ ...parts, documents, vault: openVault }),
  };
};

describe('an assignment tried out', () => {
  test('prices L1 on its issue day, line by line', async () => {
    const { quoting, events } = world();
    const quote = await quoting.quoteAssignment(context(), asked());
    expect(quote).toMatchObject({
      code: 'L1',
      fundId: FUND,
      resultingStatus: 'received',
      pricing: { policy: 'curve_v1', dailyFactor: L1.daily_factor },
      annualRate: L1.annual_effective_rate,
      acquisitionValue: centsOf('10000.00'),
      faceValue: centsOf('11400.00'),
      filesChecked: true,
      calculatedAt: NOW,
    });
    const schedule = scheduleOf(L1);
    expect(
      quote.lines.map(({ installmentCode, dueDate, faceValue }) => [installmentCode, dueDate, faceValue]),
    ).toEqual(schedule.map(({ code, dueDate, faceValue }) => [code, dueDate, faceValue]));
    expect(quote.lines.slice(0, 2).map(({ days }) => days)).toEqual([31, 59]);
    expect(await events()).toEqual([]);
  });

  test('says what the assignment itself records, whatever is offered', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(anyPosition, extremePosition), async (position) => {
        const { quoting, assigning, events } = world();
        const installments = position.installments.map(({ code, dueDate, faceValue }) => ({
          ...{ code, dueDate, faceValue },
        }));
        const { acquisitionValue } = position;
        const input = asked({ acquisitionValue, installments, dateIssued: ISSUED });
        const quote = await quoting.quoteAssignment(context(), input);
        const total = quote.lines.reduce((sum, { presentValue }) => sum + presentValue, 0);
        expect(total).toBe(acquisitionValue);
        expect(quote.annualRate === null || /^-?\d+\.\d{10}$/.test(quote.annualRate)).toBe(true);
        expect(await events()).toEqual([]);
        expect((await assigning.assign(context(), input)).replayed).toBe(false);
        const [recorded] = await events();
        expect(decodeLoanEvent(recorded!)).toMatchObject({
          pricing: quote.pricing,
          acquisitionValue: quote.acquisitionValue,
          receivedAt: quote.calculatedAt,
        });
      }),
      { numRuns: 60 },
    ));

  test('takes what files there are, and says whether those were all', async () => {
    const { quoting } = world();
    const documents = ['ccb.pdf', 'term.pdf'].map((value) => ({ type: 'ccb', value }));
    const checked = async (files: AskedAssignment['files']) =>
      (await quoting.quoteAssignment(context(), asked({ documents, files }))).filesChecked;
    expect(await checked([])).toBe(false);
    expect(await checked([file])).toBe(false);
    expect(await checked([file, receivedFile('term.pdf', '%PDF-')])).toBe(true);
  });

  const misleading = 'ccb\u202e.pdf';
  test.each<[string, RequestContext, Partial<AskedAssignment>]>([
    ['fund_not_allowed', { ...context(), fundIds: [] }, {}],
    [
      'validation_error',
      context(),
      { documents: [{ type: 'ccb', value: misleading }], files: [receivedFile(misleading, '%PDF-')] },
    ],
    ['validation_error', context(), { installments: [] }],
  ])('is refused as %s, in the words of the assignment', async (code, who, changes) => {
    const { quoting, assigning, events } = world();
    const refusal: unknown = await quoting
      .quoteAssignment(who, asked(changes))
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code });
    await expect(assigning.assign(who, asked(changes))).rejects.toEqual(refusal);
    expect(await events()).toEqual([]);
  });

  test('is refused for a file that is no PDF', async () => {
    const commands = commandHandler(new InMemoryEventStore());
    const loans = loansOver({ commands, inspector: inspectorOf('docx'), clock: fixedClock() });
    await expect(loans.quoteAssignment(context(), asked())).rejects.toMatchObject({ code: 'invalid_file' });
  });

  test('of a code that is in use is refused, whatever is offered and whoever of the application asks', async () => {
    const { quoting, assigning, events } = world();
    await assigning.assign(context(), asked());
    const before = await events();
    const limited = { ...context(), onlyFundIds: ['another'] };
    for (const [who, changes] of [
      [context(), {}],
      [context(), { acquisitionValue: centsOf('9999.99') }],
      [limited, {}],
    ] as const) {
      await expect(quoting.quoteAssignment(who, asked(changes))).rejects.toMatchObject({
        code: 'proposal_code_already_used',
      });
    }
    expect(await events()).toEqual(before);
    expect((await quoting.quoteAssignment(context('app-2'), asked())).resultingStatus).toBe('received');
    // A quote has not used the code up, nor looked at what it was used for.
    expect((await assigning.assign(context(), asked())).replayed).toBe(true);
  });
});
