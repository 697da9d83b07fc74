import { describe, expect, test } from '@jest/globals';
import type { AskedRenegotiation } from '../../../application/renegotiation/request.ts';
import { VALUE_CEILING } from '../../../domain/curve/decimal.ts';
import { presentValue } from '../../../domain/curve/present-value.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { receiveL1, requestRepurchase } from '../../domain/support/loan-story.ts';
import { loanCode } from '../../domain/support/renegotiation-story.ts';
import { NOW, context } from '../../support/application-parts.ts';
import {
  activeLoan,
  ana,
  command,
  logOf,
  stateOf,
  newProposal,
  pay,
  renegotiation,
  withDocument,
  worldWith,
} from '../../support/renegotiation-world.ts';

const JUNE_20 = calendarDate('2026-06-20');
const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'taken',
    ({ code, message, details }: { code: string; message: string; details: unknown }) => ({
      code,
      message,
      details,
    }),
  );

describe('a renegotiation tried out', () => {
  test('shows what is written off, line by line, and what comes in; nothing is stored', async () => {
    const { store, documents, process } = await worldWith('L1', 'L2');
    await pay(process.commands, 'L1', '001');
    const before = (await logOf(store)).length;
    const stored = [...documents.stored];
    const input = renegotiation(['L1', 'L2']);
    const quote = await process.renegotiation.quote(context(), input);
    expect([(await logOf(store)).length, [...documents.stored]]).toEqual([before, stored]);
    expect(quote).toMatchObject({
      effectiveDate: JUNE_20,
      newProposal: { code: 'N1', acquisitionValue: cents(600_000), numberOfInstallments: 2 },
      calculatedAt: NOW,
    });
    expect(quote.lines.map(({ code }) => code)).toEqual([...Array(11).fill('L1'), ...Array(12).fill('L2')]);
    for (const { code, presentValue: total, openFaceValue } of quote.originals) {
      const lines = quote.lines.filter((line) => line.code === code);
      expect(lines.reduce((sum, line) => sum + (line.presentValue ?? NaN), 0)).toBe(total);
      expect(lines.reduce((sum, { faceValue }) => sum + faceValue, 0)).toBe(openFaceValue);
    }
    await process.renegotiation.renegotiate(context(), input);
    const received = (await logOf(store)).find(
      ({ stream, type }) => stream.endsWith('.N1') && type === 'loan.received.v1',
    );
    expect(JSON.parse(received!.data)).toMatchObject({
      pricing: { daily_factor: quote.newProposal.pricing.dailyFactor },
    });
  });

  test('an original whose value is beyond every amount has none, and may be replaced all the same', async () => {
    const { documents, process } = await worldWith();
    const { installments } = receiveL1;
    const day = { ...installments[0]!, dueDate: calendarDate('2026-01-16') };
    await activeLoan(process, documents, 'L1', { installments: [day], acquisitionValue: cents(100) });
    const { pricing } = (await stateOf(process, 'L1')) as never as {
      pricing: { dailyFactor: string };
    };
    expect(presentValue(pricing.dailyFactor, [{ ...day, credits: [] }], JUNE_20).total).toBe(VALUE_CEILING);
    const quote = await process.renegotiation.quote(context(), renegotiation());
    expect([quote.originals[0]?.presentValue, quote.lines[0]?.presentValue]).toEqual([null, null]);
  });

  const refused: readonly (readonly [string, AskedRenegotiation])[] = [
    ['an unknown original', renegotiation(['L1', 'L9'])],
    ['an original twice', renegotiation(['L1', 'L1'])],
    ['a new code that is an original', renegotiation(['L1', 'N1'])],
    ['a date before the issue', renegotiation(['L1'], { effectiveDate: calendarDate('2026-01-14') })],
    ['a used code', renegotiation(['L1'], { newProposal: newProposal({ code: loanCode('L2') }) })],
    ['another kind of document', renegotiation(['L1'], withDocument('ccb'))],
    ['a document without its file', renegotiation(['L1'], { ...withDocument(), files: [] })],
    ['a frozen original', renegotiation(['L1', 'L3'])],
    ['borrowers that differ', renegotiation(['L1', 'L4'])],
    ['documents that are gone', renegotiation(['L5'])],
    [
      'a due date before the issue',
      renegotiation(['L1'], { newProposal: newProposal({ dateIssued: calendarDate('2027-01-01') }) }),
    ],
  ];

  test.each(refused)('%s is refused as in earnest', async (_, input) => {
    const { documents, process } = await worldWith('L1', 'L2', 'L3', 'L5');
    await activeLoan(process, documents, 'L4', { borrower: { ...ana, document_number: '11144477735' } });
    await command(process.commands, 'L3', requestRepurchase('repurchase'));
    documents.stored.delete([...documents.stored].find((name) => name.includes('.L5/')) ?? '');
    const tried = await refusalOf(process.renegotiation.quote(context(), input));
    expect(tried).toEqual(await refusalOf(process.renegotiation.renegotiate(context(), input)));
    expect(tried).not.toBe('taken');
  });

  test('an original that was renegotiated by this very request is refused: no key is looked up', async () => {
    const { process } = await worldWith('L1');
    await process.renegotiation.renegotiate(context(), renegotiation());
    await expect(process.renegotiation.quote(context(), renegotiation())).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });
});
