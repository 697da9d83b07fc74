import { userInfo } from 'node:os';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { PendingOperation } from '../../../application/administrator/worklists.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { userOfSystem } from '../../../infrastructure/cli/options.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { administratorOf } from '../../support/administrator.ts';
import { FUND, commandHandler } from '../../support/application-parts.ts';
import { commandLine, pieces } from '../../support/command-line.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

let store: InMemoryEventStore;
let desk: Administrator;
let waiting: PendingOperation[];
let input: string;
/** What happens while the person reads what is asked. */
let meanwhile: () => Promise<unknown>;
let receivables: ReturnType<typeof commandLine>;

const stream = (code: string): string => `loan-acme.${code}`;
const actorsOf = async (code: string): Promise<readonly string[]> =>
  (await store.read(stream(code))).events.slice(1).map(({ metadata }) => metadata.actor);
const typesOf = async (code: string): Promise<readonly string[]> =>
  (await store.read(stream(code))).events.map(({ type }) => type.replace(/^loan\.|\.v1$/g, ''));
const decision = (code: string, name: string, more: object = {}): string =>
  JSON.stringify({
    decision_id: `${code}-${name}`,
    application_id: 'acme',
    originator_proposal_code: code,
    decision: name,
    ...more,
  });
const rejection = (code: string): string =>
  decision(code, 'reject', { reasons: [{ code: 'fraud', message: 'forged' }] });

beforeEach(async () => {
  store = new InMemoryEventStore();
  desk = administratorOf(store);
  jest.spyOn(desk.worklists, 'pending').mockImplementation(async () => waiting);
  meanwhile = () => Promise.resolve();
  input = '';
  waiting = [];
  for (const code of ['OP-1', 'OP-2']) {
    await commandHandler(store).handle({
      stream: stream(code),
      applicationId: 'acme',
      actor: 'client-1',
      correlationId: 'req',
      decide: (state) => loanDecider.decide({ ...receiveL1, code: code as LoanCode }, state),
    });
    const of = { applicationId: 'acme', code, fundId: FUND, since: '2026-06-20T12:00:00.000Z' };
    waiting.push({ ...of, status: 'received', acquisitionValue: 1_000_000 });
  }
  receivables = commandLine(
    () => ({
      clients: {
        list: async () => [{ applicationId: 'acme', name: 'acme', fundIds: [FUND] } as never],
      },
      loans: {
        catchUp: async () => undefined,
        applicationOf: async () => 'acme',
        knowsFund: async () => true,
      },
      administrator: desk,
    }),
    {
      input: () => pieces(input),
      ask: async () => {
        await meanwhile();
        return 'yes';
      },
    },
  );
});
afterEach(() => {
  process.exitCode = undefined;
});

const sign = async (code: string): Promise<void> => {
  await desk.submitAll([decision(code, 'approve'), decision(code, 'sign_term')]);
  const at = waiting.findIndex((one) => one.code === code);
  waiting[at] = { ...waiting[at]!, status: 'term_signed' };
};
const ALL = ['--all-pending', '--fund', FUND] as const;

describe('a disbursement far off', () => {
  const disburse = (...more: readonly string[]) =>
    receivables('administrator', 'disburse', 'OP-1', '--date', '2026-06-20', ...more);
  beforeEach(() => sign('OP-1'));

  test('is refused with 3 until its value is given twice', async () => {
    const once = await disburse('--value', '459008.10');
    expect([once.code, once.err]).toEqual([3, expect.stringMatching(/10000\.00.*--confirm-value/)]);
    const otherwise = await disburse('--value', '459008.10', '--confirm-value', '459008.11');
    expect([otherwise.code, otherwise.err]).toEqual([3, expect.stringContaining('459008.11')]);
    expect(await typesOf('OP-1')).toHaveLength(3);
    expect((await disburse('--value', '459008.10', '--confirm-value', '459008.10')).code).toBe(0);
  });

  test('with --all-pending is refused and listed, and the others are carried out', async () => {
    await sign('OP-2');
    waiting[1] = { ...waiting[1]!, acquisitionValue: 1_000_000 };
    const args = ['administrator', 'disburse', ...ALL, '--date', '2026-06-20', '--yes'] as const;
    const { code, lines, err } = await receivables(...args, '--value', '1.00');
    expect([code, lines.map(({ outcome }) => outcome)]).toEqual([3, ['refused', 'refused']]);
    expect(err).toMatch(/OP-1: the disbursed value 1\.00[^\n]*\n\s+OP-2: .*\n[\s\S]*2 of 2 decisions/);
    expect((await receivables(...args)).lines.map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
    const confirmed = await receivables(...args, '--value', '1.00', '--confirm-value', '1.00');
    expect([confirmed.code, confirmed.err]).toEqual([2, expect.stringContaining('--confirm-value')]);
  });
});

describe('what was shown is decided, or nothing', () => {
  test('--all-pending refuses what changed while it was asked, with who did what', async () => {
    meanwhile = () => desk.submitAll([decision('OP-1', 'approve')], { name: 'Ana' });
    const args = ['administrator', 'reject', ...ALL, '--reason', 'fraud: forged'] as const;
    const { code, lines, err } = await receivables(...args);
    expect([code, lines.map(({ outcome }) => outcome)]).toEqual([3, ['refused', 'applied']]);
    expect(err).toMatch(/OP-1 is approved, not received: approved by Ana at 2026/);
    expect(await typesOf('OP-1')).toEqual(['received', 'approved']);
  });

  test('--expected-status names it for one', async () => {
    await desk.submitAll([rejection('OP-1')], { name: 'Ana' });
    const args = ['administrator', 'approve', 'OP-1', '--expected-status', 'received'] as const;
    const refused = await receivables(...args);
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('rejected by Ana')]);
    expect((await receivables('administrator', 'approve', 'OP-2', '--expected-status', 'no')).code).toBe(2);
  });
});

describe('who decides', () => {
  test('is the user of the operating system, where nobody is named', async () => {
    await receivables('administrator', 'approve', 'OP-1');
    await receivables('administrator', 'approve', ...ALL, '--yes');
    input = decision('OP-2', 'sign_term');
    await receivables('administrator', 'apply', '--file', '-');
    const me = `administrator/${userInfo().username}`;
    expect([await actorsOf('OP-1'), await actorsOf('OP-2')]).toEqual([[me], [me, me]]);
  });

  test('is whom --operator or a line names', async () => {
    await receivables('administrator', 'approve', 'OP-1', '--operator', 'Ana Souza');
    input = [decision('OP-1', 'sign_term'), decision('OP-2', 'approve', { operator: 'Bia' })].join('\n');
    await receivables('administrator', 'apply', '--file', '-', '--operator', 'Caio');
    expect([await actorsOf('OP-1'), await actorsOf('OP-2')]).toEqual([
      ['administrator/Ana Souza', 'administrator/Caio'],
      ['administrator/Bia'],
    ]);
  });

  test.each(['', 'a\nb', 'x'.repeat(81)])('%j is no name', async (name) => {
    expect((await receivables('administrator', 'approve', 'OP-1', '--operator', name)).code).toBe(2);
    expect(await typesOf('OP-1')).toEqual(['received']);
  });

  // As in a container that runs as a number without an entry.
  test('without a user is the number of the process', () => {
    expect(userOfSystem('')).toBe(`uid ${process.getuid?.()}`);
    expect(userOfSystem('FUNDO\\ana')).toBe('FUNDO\\ana');
  });
});
