import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import type { OperationPlace } from '../../../application/command-handling/operation.ts';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Portfolio } from '../../../application/portfolio/portfolio.ts';
import { Reconciliation } from '../../../application/reconciliation/reconciliation.ts';
import { OutputClosedError } from '../../../infrastructure/cli/command-line.ts';
import { chunksOf, readStatement } from '../../../infrastructure/statements/csv-statements.ts';
import { previewOf } from '../../../infrastructure/statements/statement-preview.ts';
import { FundUnderTest } from '../../contracts/fund-side-samples.ts';
import {
  approved,
  disbursed,
  paid,
  repurchaseRequested,
  termSigned,
  underpaid,
} from '../../domain/support/loan-story.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { loansOver } from '../../support/loans-over.ts';
import { commandLine } from '../../support/command-line.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openReadModel } from '../../support/sql/temporary-database.ts';

const KNOWN_AT = '2031-01-01T00:00:00.000Z';

let fund: FundUnderTest;
let caughtUp: number;
let steps: string[];
let waiting: readonly OperationPlace[] = [];
let names: InMemoryEventStore;
let readerLeft: boolean;

const directory = temporaryDirectory();
const database = await openReadModel();
afterAll(() => database.close());
beforeEach(async () => {
  fund = new FundUnderTest(database.database, 100);
  caughtUp = 0;
  steps = [];
  waiting = [];
  readerLeft = false;
  names = new InMemoryEventStore();
  const loan = [fund.loan('=L1'), approved, termSigned, disbursed];
  const payments = [paid('001'), paid('002', '900.00', '2026-03-15'), underpaid('002', '900.00', '50.00')];
  await fund.tell('=L1', [...loan, ...payments, repurchaseRequested('cession_reversal')]);
});

const catchUp = async (): Promise<void> => void (caughtUp += 1);

const run = (...args: readonly string[]) => {
  const known = loansOver({ registry: { list: async () => [] }, database: database.database });
  return commandLine(
    () => ({
      reconciliation: new Reconciliation({
        database: database.database,
        caughtUp: catchUp,
        text: async () => ({ chunksOf, readStatement, previewOf }),
      }),
      portfolio: new Portfolio({
        database: database.database,
        caughtUp: catchUp,
        clock: { now: () => KNOWN_AT as Timestamp, today: () => '2026-06-20' as CalendarDate },
        ...({} as Pick<ConstructorParameters<typeof Portfolio>[0], 'place' | 'privacy' | 'documentsOf'>),
      }),
      clients: { list: async () => [] },
      funds: fundsOver({ events: names, loans: () => known }),
      loans: { ...known, leftOut: async () => waiting },
    }),
    {
      terminal: true,
      ...(readerLeft && {
        write: async () => {
          throw new OutputClosedError();
        },
      }),
      startProgress: (total) => {
        steps.push(`of ${total}`);
        return { advance: () => steps.push('step'), [Symbol.dispose]: () => steps.push('end') };
      },
    },
  )(...args);
};

const statement = async (...lines: readonly string[]): Promise<string> => {
  const path = join(directory, 'statement.csv');
  await writeFile(path, ['date,amount,reference', ...lines, ''].join('\n'));
  return path;
};

const reconcile = (path: string, ...more: readonly string[]) =>
  run(
    'reconcile',
    '--fund',
    fund.fundId,
    '--from',
    '2026-01-01',
    '--to',
    '2026-12-31',
    '--statement',
    path,
    ...more,
  );

const CLEAN = ['2026-02-15,950.00,=L1/001', '2026-03-15,900.00,=L1/002', '2026-06-20,6147.33,=L1'];

describe('receivables reconcile', () => {
  test('ends with 0 when everything matched, after catching up', async () => {
    const { code, out, err } = await reconcile(await statement(...CLEAN));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(caughtUp).toBe(1);
    expect(steps).toEqual(['of 1', 'step', 'end']);
    expect(out).toContain('Notified 3 payments, 7997.33; statement 3 lines, 7997.33');
    expect(out).toMatch(
      /reversal after payments +repurchase \(cession_reversal\) +=L1 +2026-06-20 +6147.33 +6147.33 +4750.00/,
    );
    expect(out).toMatch(/underpayment +settlement +=L1\/002 +2026-03-15 +900.00 +950.00 +50.00/);
    expect(out).not.toContain('missing in the statement\n');
  });

  test('ends with 4 when something differs, and lists it', async () => {
    const path = await statement(CLEAN[0]!, '2026-03-15,899.00,=L1/002', '2026-04-01,5.00,unknown');
    const { code, out, err } = await reconcile(path);
    expect({ code, err }).toEqual({ code: 4, err: 'the statement and the notifications differ\n' });
    expect(out).toMatch(
      /Amounts that differ\n[^]*=L1\/002 +2026-03-15 +900.00 +3 +2026-03-15 +899.00 +=L1\/002 +-1.00/,
    );
    expect(out).toMatch(/Notified, and missing in the statement\n[^]*=L1 +2026-06-20 +6147.33/);
    expect(out).toMatch(/In the statement, and never notified\n[^]*4 +2026-04-01 +5.00 +unknown/);
    readerLeft = true;
    expect(await reconcile(path)).toMatchObject({ code, err, out: '' });
  });

  test('prints JSON as one object, with what matched on demand', async () => {
    const path = await statement(...CLEAN);
    const short = JSON.parse((await reconcile(path, '-o', 'json')).out);
    expect(short).toMatchObject({ fund_id: fund.fundId, clean: true, findings: [] });
    expect(short.results.matched).toEqual({ count: 3, amount: 7997.33 });
    expect(short.totals).toHaveLength(3);
    expect(short.remarks.map((one: { remark: string }) => one.remark)).toEqual([
      ...['underpayment', 'reversal_after_payments', 'repurchase_pending'],
    ]);
    const { out } = await reconcile(path, '-o', 'json', '--with-matched');
    expect(out).toContain('"amount":950.00');
    expect(JSON.parse(out).findings[0]).toEqual({
      ...{ result: 'matched', rule: 'exact', match: 0 },
      notification: {
        ...{ event_id: expect.any(String), kind: 'settlement', originator_proposal_code: '=L1' },
        ...{ installment_code: '001', date: '2026-02-15', amount: 950 },
      },
      statement: { line: 2, date: '2026-02-15', amount: 950, reference: '=L1/001' },
    });
  });

  test('writes CSV that no spreadsheet takes for formulas, into a file that is whole or not there', async () => {
    const output = join(directory, 'report.csv');
    const path = await statement(...CLEAN.slice(1));
    const { code, out } = await reconcile(path, '-o', 'csv', '--with-matched', '--output', output);
    expect({ code, out }).toEqual({ code: 4, out: '' });
    const [header, ...rows] = (await readFile(output, 'utf8')).trimEnd().split('\n');
    expect(header).toMatch(/^result,rule,match,kind,reason,operation,installment,event_id,notified_date/);
    expect(rows).toHaveLength(6);
    expect(rows.at(2)).toMatch(/^missing_in_statement,,,settlement,,'=L1,001,[^,]+,2026-02-15,950.00,,,,,,$/);
    expect((await readdir(directory)).filter((name) => name.startsWith('report.csv'))).toEqual([
      'report.csv',
    ]);
  });

  test.each([
    [
      'a broken line',
      ['2026-02-15,950.00,A', '2026-02-30,1.00,A'],
      'statement.csv line 3: "2026-02-30" is not a date',
    ],
    [
      'another number of columns',
      ['2026-02-15,950.00'],
      'statement.csv line 2: it has another number of columns',
    ],
  ])(
    'with %s: exit code 2, the line on standard error, nothing printed or written',
    async (_, lines, message) => {
      const output = join(directory, 'never.csv');
      const { code, out, err } = await reconcile(await statement(...lines), '--output', output);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(message);
      expect(await readdir(directory)).not.toContain('never.csv');
    },
  );

  test.each([
    [['--from', '2026-02-30'], 'It must be a day that exists'],
    [['--from', '2027-01-01'], '--from comes after --to'],
    [['--window', '61'], 'from 0 to 60'],
    [['--decimal', ';'], 'Allowed choices'],
    [['--date-format', 'dd/mm'], 'a year, a month and a day'],
    [['--delimiter', ';;'], 'one character'],
    [['--statement', 'nowhere.csv'], 'cannot be read'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, out, err } = await reconcile(await statement(...CLEAN), ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

test('a fund that nobody knows ends with 3, by its name too', async () => {
  const { code, out, err } = await run('portfolio', '--fund', 'Aurora');
  expect({ code, out, err }).toEqual({
    code: 3,
    out: '',
    err: 'error: no fund has the id or the name Aurora\n',
  });
});

test('reports on a fund that has a name say it beside the id, and their CSV is as before', async () => {
  const period = ['--from', '2026-01-01', '--to', '2026-12-31', '--statement', await statement(...CLEAN)];
  const reports = [
    ['portfolio', '--as-of', '2026-06-20'],
    ['reconcile', ...period],
  ] as const;
  const csvOf = (of: string) =>
    Promise.all(reports.map(async (report) => (await run(...report, '--fund', of, '-o', 'csv')).out));
  const before = await csvOf(fund.fundId);
  await fundsOver({ events: names }).name({ fundId: fund.fundId, name: 'Aurora', operator: 'Ana' });
  for (const report of reports) {
    expect((await run(...report, '--fund', 'Aurora')).out).toContain(`Fund Aurora (${fund.fundId})`);
    const json = (await run(...report, '--fund', 'Aurora', '-o', 'json')).out;
    expect(json).toContain(`{"fund_id":"${fund.fundId}","fund_name":"Aurora",`);
  }
  expect(await csvOf('Aurora')).toEqual(before);
});

describe('receivables portfolio', () => {
  const portfolio = (...more: readonly string[]) =>
    run('portfolio', '--fund', fund.fundId, '--as-of', '2026-06-20', ...more);

  test('prints the position of the day as a table', async () => {
    const { code, out } = await portfolio();
    expect(code).toBe(0);
    expect(caughtUp).toBe(1);
    expect(out).toContain('1 operations with open installments');
    expect(out).toMatch(/open +10 +9500.00 +\d+\.\d\d\n/);
    expect(out).toMatch(/overdue +61-90 +1 +950.00/);
    expect(out).toMatch(/settled_to_date +2 +1850.00/);
  });

  test('prints it as JSON and as CSV', async () => {
    const position = JSON.parse((await portfolio('-o', 'json')).out);
    expect(position).toMatchObject({ as_of: '2026-06-20', operations: 1, open: { face_value: 9500 } });
    expect(position.overdue_by_age.map((one: { to_days: number }) => one.to_days)).toEqual([
      ...[30, 60, 90, 120, 150, 180, 360, 720, 1080, null],
    ]);
    const { out } = await portfolio('-o', 'csv');
    expect(out.split('\n')[0]).toBe('measure,days,count,face_value,present_value,amount');
    expect(out).toMatch(/^overdue,61-90,1,950.00,/m);
  });

  test('leaves out, counts and names what is worth more than an amount can say', async () => {
    const plain = JSON.parse((await portfolio('-o', 'json')).out);
    expect(plain).not.toHaveProperty('without_present_value');
    const pricing = { policy: 'curve_v1', dailyFactor: '0.8' } as const;
    await fund.tell('CHEAP', [fund.loan('CHEAP', { pricing }), approved, termSigned, disbursed]);
    const { out, err } = await portfolio('-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      open: { present_value: plain.open.present_value },
      without_present_value: {
        operations: 1,
        face_value: 11400,
        named: [{ application_id: fund.applicationId, originator_proposal_code: 'CHEAP' }],
      },
    });
    expect(err).toContain('1 operation(s) are worth more than an amount can say');
    expect((await portfolio('-o', 'csv')).out).toContain(
      'without_present_value,,1,11400.00,,\nwithout_present_value: CHEAP,,1,,,\n',
    );
    expect((await portfolio()).out).toMatch(/without_present_value +1 +11400.00/);
  });

  test('knows no more than was known', async () => {
    const { out } = await portfolio('--known-at', '2026-01-15T12:00:04Z', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      known_at: '2026-01-15T12:00:04.000Z',
      open: { installments: 11 },
    });
  });

  test.each([
    [['--as-of', '2026-06-31']],
    [['--known-at', 'yesterday']],
    [['--known-at', '2026-02-30T00:00:00Z']],
  ])('refuses %j', async (args) => {
    const { code, out } = await portfolio(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });
});

describe('a report that operations in quarantine are missing from', () => {
  const entry = (code: string): OperationPlace => ({ applicationId: 'app-1', code });

  test('says so beside its result', async () => {
    const portfolio = () => run('portfolio', '--fund', fund.fundId, '-o', 'json');
    const whole = await portfolio();
    expect(whole.err).toBe('');
    waiting = Array.from({ length: 7 }, (_, i) => entry(`Q-${i}`));
    const { err, ...rest } = await portfolio();
    expect({ ...rest, err: '' }).toEqual(whole);
    expect(err).toContain('7 operation(s) in quarantine');
    expect(err).toContain('Q-0, Q-1, Q-2, Q-3, Q-4 and 2 more (receivables quarantine list)');
  });

  test('also where it is compared with a statement', async () => {
    waiting = [entry('OP-1')];
    const { err } = await reconcile(await statement('2026-02-15,950.00,=L1/001'));
    expect(err).toContain('1 operation(s) in quarantine');
  });
});
