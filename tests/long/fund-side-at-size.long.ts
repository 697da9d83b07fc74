import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { fillPortfolio, openOf } from '../support/portfolio-at-size.ts';
import {
  FUND,
  expectedResults,
  fillReadModel,
  measuredCommand,
  ownMs,
  reconcileArguments,
  writeStatement,
} from '../support/reconciliation-at-size.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAYMENTS = 1_000_000;
const OPERATIONS = 100_000;
/** How much garbage lies around is V8's affair, and differs between machines by a tenth. */
const MOST_BYTES = 1.25e9;

let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
});

test('a million notifications are compared with a million lines within a minute and a gigabyte and a quarter', async () => {
  const statement = join(directory, 'statement.csv');
  await fillReadModel(directory, PAYMENTS);
  await writeStatement(statement, PAYMENTS);
  const args = [...reconcileArguments(statement), '-o', 'json'];
  const run = await measuredCommand(directory, args);
  const { code, out, err, peakBytes } = run;
  expect({ code, err: err.trim() }).toEqual({
    code: 4,
    err: 'the statement and the notifications differ',
  });
  const { results, rules } = JSON.parse(out) as {
    results: Record<string, { count: number }>;
    rules: Record<string, number>;
  };
  const counts = Object.fromEntries(Object.entries(results).map(([result, { count }]) => [result, count]));
  expect(counts).toEqual(expectedResults(PAYMENTS));
  expect(rules['amount_and_date']).toBe(PAYMENTS / 10_000);
  expect(ownMs(run)).toBeLessThan(60_000);
  // Other systems do not tell the peak of a process.
  if (process.platform === 'linux') expect(peakBytes).toBeLessThan(MOST_BYTES);
});

test('the position of a hundred thousand operations is there in seconds, on any day', async () => {
  await fillPortfolio(directory, FUND, OPERATIONS);
  for (const date of ['2026-03-01', '2026-06-20', '2027-01-31']) {
    const args = ['portfolio', '--fund', FUND, '--as-of', date, '-o', 'json'];
    const run = await measuredCommand(directory, args);
    const { code, out } = run;
    expect(code).toBe(0);
    const { operations, open } = JSON.parse(out) as { operations: number; open: { installments: number } };
    // Operations repeat themselves every hundred and fifty.
    const kinds = Array.from({ length: 150 }, (_, o) => openOf(o, date));
    const all = Array.from({ length: OPERATIONS }, (_, o) => kinds[o % 150]!);
    expect(open.installments).toBe(all.reduce((sum, count) => sum + count, 0));
    expect(operations).toBe(all.filter((count) => count > 0).length);
    expect(ownMs(run)).toBeLessThan(30_000);
  }
});
