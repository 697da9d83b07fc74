import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { DeskEntry, DeskVisitor } from '../../../domain/desk/line.ts';
import { commandLine, pieces } from '../../support/command-line.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { APPLICATION, FUND, decisionsOf, deskOver, receive, typesOf } from '../../support/two-people-desk.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { fixedClock } from '../../support/application-parts.ts';

const CODES = ['OP-1', 'OP-2', 'OP-3'];
let store: InMemoryEventStore;
let desk: Administrator;
let input: string;
let told: DeskEntry[];
let receivables: ReturnType<typeof commandLine>;

beforeEach(async () => {
  store = new InMemoryEventStore();
  for (const code of CODES) await receive(store, code);
  desk = deskOver(store, fixedClock(), CODES);
  told = [];
  receivables = commandLine(
    () => ({
      clients: { list: async () => [{ applicationId: APPLICATION, name: 'acme', fundIds: [FUND] } as never] },
      funds: fundsOver({ events: store }),
      loans: { catchUp: async () => undefined, applicationOf: async () => APPLICATION },
      administrator: desk,
      desk: {
        record: async (_visitor: DeskVisitor, entries: readonly DeskEntry[]) => void told.push(...entries),
      },
    }),
    { input: () => pieces(input) },
  );
});
afterEach(() => {
  process.exitCode = undefined;
});

const lines = (out: string): readonly Record<string, unknown>[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const fourEyes = (...args: string[]) => receivables('fund', 'four-eyes', '--fund', FUND, ...args);
const stated = () =>
  fourEyes('--decision', 'approve:0', 'reject:100.50', '--evidence', 'stated', '--operator', 'Ana');
const approve = (code: string, operator: string, ...more: string[]) =>
  receivables('administrator', 'approve', code, '--operator', operator, ...more);
const awaiting = async () => lines((await receivables('administrator', 'awaiting')).out);
const statusOf = async (code: string) => (await typesOf(store, loanStream(APPLICATION, code))).at(-1);

describe('fund four-eyes', () => {
  test('shows a rule and sets it, in reais', async () => {
    expect(JSON.parse((await fourEyes()).out)).toEqual({
      fund_id: FUND,
      version: 0,
      decisions: [],
      evidence: null,
    });
    const rule = {
      ...{ fund_id: FUND, version: 1, evidence: 'stated' },
      decisions: [
        { decision: 'approve', from: 0 },
        { decision: 'reject', from: 100.5 },
      ],
    };
    expect(JSON.parse((await stated()).out)).toEqual({ ...rule, outcome: 'applied' });
    expect(JSON.parse((await stated()).out)).toEqual({ ...rule, outcome: 'already_applied' });
    expect(JSON.parse((await fourEyes()).out)).toEqual(rule);
  });

  test('knows no such fund, and says so at once', async () => {
    for (const more of [[], ['--off']])
      expect(await receivables('fund', 'four-eyes', '--fund', 'Fundo Aurora', ...more)).toMatchObject({
        code: 3,
        err: 'error: no fund has the id or the name Fundo Aurora\n',
      });
  });

  test('asks for people who are signed in, where nothing else is said', async () => {
    expect(JSON.parse((await fourEyes('--decision', 'disburse:50000')).out)).toMatchObject({
      evidence: 'signed-in',
    });
    const off = await fourEyes('--off');
    expect([off.code, off.err]).toEqual([3, expect.stringMatching(/evidence_missing|signed in/)]);
  });

  test('that asks for less awaits another person', async () => {
    await stated();
    const off = await fourEyes('--off', '--operator', 'Ana');
    const { first_decision_id: id, ...rest } = JSON.parse(off.out) as Record<string, unknown>;
    expect([off.code, rest]).toEqual([
      0,
      expect.objectContaining({ version: 1, outcome: 'awaiting_confirmation' }),
    ]);
    expect(await awaiting()).toMatchObject([
      {
        first_decision_id: id,
        decision: 'four_eyes',
        fund_id: FUND,
        originator_proposal_code: null,
        by: 'Ana',
      },
    ]);
    expect((await fourEyes('--off', '--operator', 'Ana')).code).toBe(3);
    expect((await receivables('administrator', 'confirm', String(id), '--operator', 'ana')).code).toBe(3);
    const confirmed = await receivables('administrator', 'confirm', String(id), '--operator', 'Bia');
    expect([confirmed.code, lines(confirmed.out)]).toMatchObject([0, [{ outcome: 'applied', status: null }]]);
    expect(JSON.parse((await fourEyes()).out)).toMatchObject({ version: 2, decisions: [] });
  });

  test.each([
    ['--decision', 'approve'],
    ['--decision', 'approve:1.234'],
    ['--decision', 'approve:-1'],
    ['--decision', 'settle:1'],
    ['--evidence', 'stated'],
    ['--off', '--decision', 'approve:1'],
    ['--decision', 'approve:1', '--evidence', 'sworn'],
  ])('%s %s %s is wrong use', async (...args) => {
    expect((await fourEyes(...args)).code).toBe(2);
  });
});

describe('a covered decision', () => {
  beforeEach(async () => void (await stated()));

  test('awaits, is listed, and is confirmed by another person', async () => {
    const first = await approve('OP-1', 'Ana', '--id', 'D-1');
    expect([first.code, JSON.parse(first.out)]).toMatchObject([
      0,
      { outcome: 'awaiting_confirmation', first_decision_id: 'D-1', status: 'received' },
    ]);
    expect(await awaiting()).toEqual([
      {
        ...{ first_decision_id: 'D-1', application_id: APPLICATION, originator_proposal_code: 'OP-1' },
        ...{ fund_id: FUND, decision: 'approve', value: 10_000, by: 'Ana', since: fixedClock().now() },
      },
    ]);
    const own = await receivables('administrator', 'confirm', 'D-1', '--operator', 'ANA');
    expect([own.code, lines(own.out)]).toMatchObject([
      3,
      [{ outcome: 'refused', reason: { code: 'own_decision' } }],
    ]);
    const confirmed = await receivables('administrator', 'confirm', 'D-1', '--operator', 'Bia');
    expect([confirmed.code, lines(confirmed.out)]).toMatchObject([
      0,
      [{ outcome: 'applied', status: 'approved' }],
    ]);
    const again = await receivables('administrator', 'confirm', 'D-1', '--operator', 'Bia');
    expect([again.code, lines(again.out)]).toMatchObject([0, [{ outcome: 'already_applied' }]]);
    expect(await awaiting()).toEqual([]);
  });

  test('is withdrawn, and void from then on', async () => {
    await approve('OP-1', 'Ana', '--id', 'D-1');
    expect((await receivables('administrator', 'withdraw', 'D-1', '--operator', 'Ana')).code).toBe(0);
    const late = await receivables('administrator', 'confirm', 'D-1', '--operator', 'Bia');
    expect([late.code, lines(late.out)]).toMatchObject([3, [{ reason: { code: 'decision_void' } }]]);
    const never = await receivables('administrator', 'withdraw', 'D-2', '--operator', 'Bia');
    expect([never.code, lines(never.out)]).toMatchObject([3, [{ reason: { code: 'decision_not_found' } }]]);
  });

  test('of every operation awaits each, and all are confirmed by their count and sum', async () => {
    desk.worklists.pending = async () =>
      CODES.map((code) => ({
        ...{ applicationId: APPLICATION, code, fundId: FUND, since: fixedClock().now() },
        ...{ status: 'received', acquisitionValue: 1_000_000 },
      }));
    const all = await receivables(
      ...['administrator', 'approve', '--all-pending', '--fund', FUND, '--yes', '--operator', 'Ana'],
    );
    expect([all.code, lines(all.out).map(({ outcome }) => outcome)]).toEqual([
      0,
      Array(3).fill('awaiting_confirmation'),
    ]);
    const confirmAll = (count: string, sum: string, operator: string) =>
      receivables(
        ...['administrator', 'confirm', '--all', '--fund', FUND],
        ...['--count', count, '--sum', sum, '--operator', operator],
      );
    for (const [count, sum] of [
      ['2', '30000'],
      ['3', '30000.01'],
      ['4', '30000'],
    ] as const) {
      const refused = await confirmAll(count, sum, 'Bia');
      expect([refused.code, refused.out, told.at(-1)]).toEqual([
        ...[3, ''],
        {
          ...{ action: 'refused', outcome: 'refused', reason: 'confirmation_mismatch', decision: 'confirm' },
          ...{ fundId: FUND, count: Number(count), sum: Math.round(Number(sum) * 100) },
        },
      ]);
    }
    expect((await confirmAll('3', '30000', 'Ana')).code).toBe(3);
    expect(await statusOf('OP-2')).toBe('received');
    const confirmed = await confirmAll('3', '30000.00', 'Bia');
    expect([confirmed.code, lines(confirmed.out).length, await statusOf('OP-2')]).toEqual([0, 3, 'approved']);
  });

  test('comes from a file as well, and so does its confirmation', async () => {
    const of = { application_id: APPLICATION, originator_proposal_code: 'OP-1', decision: 'approve' };
    input = [
      JSON.stringify({ decision_id: 'D-1', ...of, operator: 'Ana' }),
      JSON.stringify({ decision_id: 'D-2', decision: 'confirm', first_decision_id: 'D-1', operator: 'Bia' }),
      JSON.stringify({ decision_id: 'D-3', decision: 'withdraw', first_decision_id: 'D-1' }),
    ].join('\n');
    const applied = await receivables('administrator', 'apply', '--file', '-', '--operator', 'Caio');
    expect(applied.code).toBe(3);
    expect(lines(applied.out)).toMatchObject([
      { line: 1, outcome: 'awaiting_confirmation', first_decision_id: 'D-1' },
      { line: 2, outcome: 'applied', decision: 'confirm', first_decision_id: 'D-1', status: 'approved' },
      { line: 3, outcome: 'refused', decision: 'withdraw', reason: { code: 'decision_void' } },
    ]);
    expect(await decisionsOf(store)).toEqual(['awaiting', 'confirmed']);
    input = JSON.stringify({ decision_id: 'D-4', decision: 'confirm' });
    expect((await receivables('administrator', 'apply', '--file', 'a.jsonl')).code).toBe(2);
  });
});

describe('wrong use of confirm', () => {
  test.each([
    [],
    ['--all'],
    ['--all', '--fund', FUND, '--count', '1'],
    ['X', '--all', '--fund', FUND, '--count', '1', '--sum', '1'],
    ['X', '--fund', FUND],
    ['--all', '--fund', FUND, '--count', '1', '--sum', '1,00'],
  ])('%s %s %s', async (...args) => {
    expect((await receivables('administrator', 'confirm', ...args)).code).toBe(2);
  });
});
