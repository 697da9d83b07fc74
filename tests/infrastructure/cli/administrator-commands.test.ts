import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { deadLetterText } from '../../../application/administrator/decisions.ts';
import type { RefusedDecision } from '../../../application/administrator/decisions.ts';
import { applicationOf } from '../../../application/loans/loans.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { OutputClosedError } from '../../../infrastructure/cli/command-line.ts';
import { administratorOf } from '../../support/administrator.ts';
import { commandHandler, fixedClock } from '../../support/application-parts.ts';
import { commandLine, pieces } from '../../support/command-line.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let store: InMemoryEventStore;
let letters: Map<string, RefusedDecision[]>;
let applications: string[];
let steps: string[];
let input: () => AsyncIterable<Uint8Array>;
let receivables: ReturnType<typeof commandLine>;

const registry = {
  list: async () => applications.map((applicationId) => ({ applicationId, fundIds: [] }) as never),
};
const services = () => ({
  administrator: administratorOf(store, fixedClock(), {
    deadLetterFile: (path = 'usual.jsonl') => ({
      path,
      put: async (refused) => void letters.set(path, [...(letters.get(path) ?? []), refused]),
    }),
  }),
  loans: { applicationOf: (code: string) => applicationOf({ registry, events: store }, code) },
});

beforeEach(async () => {
  store = new InMemoryEventStore();
  letters = new Map();
  applications = ['acme', 'other'];
  steps = [];
  input = () => pieces();
  const clients = {
    list: async () => applications.map((applicationId) => ({ applicationId, name: applicationId }) as never),
  };
  receivables = commandLine(() => ({ ...services(), clients }), {
    input: () => input(),
    startProgress: (total) => {
      steps.push(`of ${total}`);
      return { advance: () => steps.push('step'), [Symbol.dispose]: () => steps.push('end') };
    },
  });
  for (const [application, code] of [
    ['acme', 'OP-1'],
    ['acme', 'OP-2'],
    ['acme', 'BOTH'],
    ['other', 'BOTH'],
  ] as const) {
    await commandHandler(store).handle({
      stream: `loan-${application}.${code}`,
      applicationId: application,
      actor: 'client-1',
      correlationId: 'req',
      decide: (state) => loanDecider.decide({ ...receiveL1, code: code as LoanCode }, state),
    });
  }
});
afterEach(() => {
  process.exitCode = undefined;
});

const line = (id: string, decision: string, code = 'OP-1', more: object = {}): string =>
  JSON.stringify({
    decision_id: id,
    application_id: 'acme',
    originator_proposal_code: code,
    decision,
    ...more,
  });
const cession = (code = 'OP-1'): string[] => [
  line(`${code}-1`, 'approve', code),
  line(`${code}-2`, 'sign_term', code),
  line(`${code}-3`, 'disburse', code, { disbursement_date: '2026-01-19', disbursed_value: 10_000 }),
];
const typesOf = async (stream: string): Promise<string[]> =>
  (await store.read(stream)).events.map(({ type }) => type.replace(/^loan\.|\.v1$/g, ''));

describe('receivables administrator', () => {
  test('carries out a decision on the only operation with this code, and says what became of it', async () => {
    const { code, err, lines } = await receivables(
      'administrator',
      'approve',
      'OP-1',
      '--id',
      'D-1',
      '--note',
      'ok',
    );
    expect([code, err]).toEqual([0, '']);
    expect(lines).toEqual([
      {
        decision_id: 'D-1',
        application_id: 'acme',
        originator_proposal_code: 'OP-1',
        decision: 'approve',
        outcome: 'applied',
        status: 'approved',
      },
    ]);
  });

  test('asks whose operation it is where several have the code', async () => {
    const unclear = await receivables('administrator', 'approve', 'BOTH');
    expect([unclear.code, unclear.err]).toEqual([2, expect.stringContaining('acme, other')]);
    expect((await receivables('administrator', 'approve', 'BOTH', '--application', 'other')).code).toBe(0);
    expect(await typesOf('loan-acme.BOTH')).toEqual(['received']);
    expect((await receivables('administrator', 'approve', 'NONE')).code).toBe(3);
  });

  test.each([
    [['sign', 'OP-1'], /operation_invalid_state.*is received/],
    [['approve', 'NONE', '--application', 'acme'], /loan_not_found/],
    [['approve', 'OP-1', '--application', 'stranger'], /no application has the id stranger/],
  ] as const)('%j is refused with 3 and changes nothing', async (args, message) => {
    const { code, out, err } = await receivables('administrator', ...args);
    expect([code, out, err]).toEqual([3, '', expect.stringMatching(message)]);
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received']);
  });

  test.each([
    [['approve', ''], /name an operation, or --all-pending/],
    [['reject', 'OP-1', '--reason', 'bad code: no'], /must be a code \(1 to 100 letters/],
    [['reject', 'OP-1', '--reason', 'caf\u00e9: no'], /must be a code \(1 to 100 letters/],
    [['approve'], /name an operation, or --all-pending/],
    [['approve', '--all-pending'], /needs --fund/],
    [
      ['approve', '--all-pending', '--fund', 'any', '--decided-at', 'now'],
      /--decided-at.*must be an instant/,
    ],
    [['disburse', 'NONE', '--date', 'today', '--value', '1'], /--date.*must be a day that exists/],
    [['approve', 'OP-1', '--yes'], /go with --all-pending/],
    [['disburse', 'OP-1', '--date', '2026-01-19'], /--value/],
    [['approve', 'OP-1', '--decided-at', 'yesterday'], /--decided-at.*must be an instant/],
    [['disburse', 'OP-1', '--date', '2026-02-30', '--value', '1.00'], /--date.*must be a day that exists/],
    [['disburse', 'OP-1', '--date', '2026-02-20', '--value', '1.005'], /--value.*1800\.00/],
    [['disburse', 'OP-1', '--value', '1'], /--date/],
    [['reject', 'OP-1'], /--reason/],
    [['reject', 'OP-1', '--reason', 'without a code'], /must be a code \(1 to 100/],
  ] as const)('%j is wrong use and changes nothing', async (args, message) => {
    const { code, out, err } = await receivables('administrator', ...args);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received']);
  });
});

describe('receivables administrator apply', () => {
  test('answers each line of a file and shows how far it is', async () => {
    input = () => pieces(`\uFEFF${cession().join('\r\n')}\r\n\r\n`, cession('OP-2').join('\n'));
    const { code, lines } = await receivables('administrator', 'apply', '--file', 'decisions.jsonl');
    expect(code).toBe(0);
    expect(lines.map(({ line: number, outcome, status }) => [number, outcome, status])).toEqual([
      ...[
        [1, 'applied'],
        [2, 'applied'],
        [3, 'applied'],
      ].map(([n, o]) => [n, o, expect.any(String)]),
      ...[
        [5, 'applied'],
        [6, 'applied'],
        [7, 'applied'],
      ].map(([n, o]) => [n, o, expect.any(String)]),
    ]);
    expect(steps).toEqual(['of 6', ...Array.from({ length: 6 }, () => 'step'), 'end']);
    const again = await receivables('administrator', 'apply', '--file', 'decisions.jsonl');
    expect(again.lines.map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 6 }, () => 'already_applied'),
    );
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received', 'approved', 'term_signed', 'disbursed']);
  });

  test('carries out nothing of a file with malformed lines, and names them', async () => {
    input = () =>
      pieces([cession()[0], '{"decision_id":"x"', cession()[1], line('y', 'postpone')].join('\n'));
    const { code, out, err } = await receivables('administrator', 'apply', '--file', 'decisions.jsonl');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /line 2: .*JSON[\s\S]*line 4: decision must be one of[\s\S]*2 of 4 .* none was carried out/,
    );
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received']);
    expect(letters.size).toBe(0);
  });

  test('puts what the rules refuse aside, with its line, and goes on behind it', async () => {
    input = () => pieces([line('x', 'sign_term'), ...cession('OP-2')].join('\n'));
    const { code, lines, err } = await receivables(
      ...['administrator', 'apply', '--file', 'decisions.jsonl', '--dead-letter', 'refused.jsonl'],
    );
    expect(code).toBe(3);
    expect(lines.map(({ outcome }) => outcome)).toEqual(['refused', 'applied', 'applied', 'applied']);
    expect(lines[0]).toMatchObject({
      line: 1,
      decision_id: 'x',
      reason: { code: 'operation_invalid_state' },
    });
    expect(err).toMatch(/1 of 4 decisions were refused: see refused\.jsonl/);
    const [letter] = letters.get('refused.jsonl') ?? [];
    expect(JSON.parse(deadLetterText(letter!))).toMatchObject({
      decision_id: 'x',
      origin: 'line 1 of decisions.jsonl',
      text: line('x', 'sign_term'),
    });
  });

  test('takes a pipe as it comes: what is malformed there is put aside, too', async () => {
    const [first, second] = cession();
    input = () => pieces(first!.slice(0, 20), `${first!.slice(20)}\n{`, `\n${second}\n`);
    const { code, lines } = await receivables('administrator', 'apply', '--file', '-');
    expect([code, lines.map(({ line: n, outcome }) => [n, outcome])]).toEqual([
      3,
      [
        [1, 'applied'],
        [2, 'refused'],
        [3, 'applied'],
      ],
    ]);
    expect(letters.get('usual.jsonl')).toHaveLength(1);
  });

  test('carries out all of them when the reader of the answers leaves, and ends as it would have', async () => {
    const [first, second, third] = cession();
    input = () => pieces(`${first!}\n`, `${second!}\n{`, `\n${third!}\n`);
    const closed = commandLine(services, {
      input: () => input(),
      write: async () => {
        throw new OutputClosedError();
      },
    });
    expect((await closed('administrator', 'apply', '--file', '-')).code).toBe(3);
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received', 'approved', 'term_signed', 'disbursed']);
  });

  test('an input that cannot be read is a failure, not a refusal', async () => {
    input = async function* () {
      yield Buffer.from(`${cession()[0]}\n`);
      throw new Error('EIO');
    };
    const broken = await receivables('administrator', 'apply', '--file', 'decisions.jsonl');
    expect([broken.code, broken.out, broken.err]).toEqual([1, '', expect.stringContaining('EIO')]);
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received']);
  });

  test.each(['', '\n \n'])(
    'a file without a decision (%j) is told, a pipe that brings none is not',
    async (text) => {
      input = () => pieces(text);
      const { code, out, err } = await receivables('administrator', 'apply', '--file', 'decisions.jsonl');
      expect([code, out, err]).toEqual([2, '', expect.stringContaining('the file holds no decision')]);
      expect(await receivables('administrator', 'apply', '--file', '-')).toMatchObject({ code: 0, err: '' });
    },
  );

  test.each(['-', 'decisions.jsonl'])('an endless line in %s is refused', async (file) => {
    input = () => pieces('x'.repeat(2_000_000));
    const { code, out, err } = await receivables('administrator', 'apply', '--file', file);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('line 1 is longer')]);
  });

  test('text in another encoding than UTF-8 is named and not carried out', async () => {
    input = async function* () {
      yield Buffer.from(`${line('x', 'approve', 'OP-1', { note: 'cess\u00e3o' })}\n`, 'latin1');
    };
    const { code, out, err } = await receivables('administrator', 'apply', '--file', 'decisions.jsonl');
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/line 1: decision must be UTF-8/)]);
  });
});

describe('receivables administrator apply, on files as they are', () => {
  let directory: string;
  beforeEach(async () => {
    directory = temporaryDirectory();
    receivables = commandLine(services);
  });

  // Read a second time, it would be empty, and none of its decisions carried out.
  test('takes a named pipe for what it is', async () => {
    const pipe = join(directory, 'decisions');
    execFileSync('mkfifo', [pipe]);
    const written = writeFile(pipe, cession().join('\n'));
    const { code, lines } = await receivables('administrator', 'apply', '--file', pipe);
    await written;
    expect([code, lines.length]).toEqual([0, 3]);
    expect(await typesOf('loan-acme.OP-1')).toEqual(['received', 'approved', 'term_signed', 'disbursed']);
  });

  test('a name that nothing has is wrong use', async () => {
    const { code, err } = await receivables('administrator', 'apply', '--file', join(directory, 'none'));
    expect([code, err]).toEqual([2, expect.stringContaining('there is no such file')]);
  });
});
