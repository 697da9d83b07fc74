import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import type { PendingOperation } from '../../../application/administrator/worklists.ts';
import { DifferencesFoundError, OutputClosedError } from '../../../infrastructure/cli/command-line.ts';
import type { CliDependencies } from '../../../infrastructure/cli/command-line.ts';
import { createProgram, runProgram } from '../../../infrastructure/cli/program.ts';
import { loansOver } from '../../support/loans-over.ts';
import { NOTHING, commandLine, maintaining } from '../../support/command-line.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const SINCE = '2026-01-15T12:00:00.000Z';

const pathsOf = (command: Command, path: readonly string[] = []): readonly (readonly string[])[] =>
  command.commands
    .filter((child) => child.name() !== 'help')
    .flatMap((child) => [[...path, child.name()], ...pathsOf(child, [...path, child.name()])]);
const leaves = pathsOf(createProgram(NOTHING)).filter(
  (path, _, all) =>
    !all.some((other) => other.length > path.length && path.every((word, i) => other[i] === word)),
);
/** They list or show; what the others print is one object, or a script. */
const SHOWING = new Set([
  ...['status', 'doctor', 'client list', 'loan list', 'loan show', 'loan documents', 'administrator pending'],
  ...[
    'webhook list',
    'webhook deliveries',
    'webhook verify',
    'events',
    'listen',
    'portfolio',
    'reconcile',
    'audit show',
  ],
  ...['audit verify', 'projections list', 'quarantine list', 'topics list', 'dead-letter list'],
  ...['followers list', 'sandbox clock', 'fund list', 'desk log', 'desk sessions', 'administrator awaiting'],
]);

const open = async (): Promise<never> => {
  throw new Error('opened');
};

describe('every command', () => {
  test.each(leaves.map((path) => [path.join(' ')]))(
    '%s: help on standard output, the format where it shows, and nothing opened',
    async (name) => {
      const receivables = commandLine(() => ({}), { open });
      const { code, out, err } = await receivables(...name.split(' '), '--help');
      expect([code, err]).toEqual([0, '']);
      expect(await receivables('help', ...name.split(' '))).toMatchObject({ code, out, err });
      expect(out.includes('  -o <format>')).toBe(SHOWING.has(name));
      expect(out).not.toContain('--format');
      const mandatory = leafOf(name).options.filter((option) => option.mandatory);
      expect((out.match(/\(required\)/g) ?? []).length).toBe(mandatory.length);
    },
  );

  test.each(leaves.map((path) => [path.join(' ')]))(
    '%s --no-such-option is wrong use and opens nothing',
    async (name) => {
      const { code, out, err } = await commandLine(() => ({}), { open })(
        ...name.split(' '),
        '--no-such-option',
      );
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/unknown option|missing required argument|required option/);
    },
  );

  const leafOf = (name: string): Command =>
    name
      .split(' ')
      .reduce(
        (command, word) => command.commands.find((one) => one.name() === word)!,
        createProgram(NOTHING) as Command,
      );
});

describe('formats', () => {
  let clients: object[];
  let pending: PendingOperation[];
  beforeEach(() => {
    clients = [
      client('client_1', 'app-1', '=HYPERLINK("http://evil")'),
      client('client_2', 'app-2', 'Acme\u001b[31m'),
      client('client_3', 'app-3', 'Acme\u001b[31m'),
    ];
    pending = [
      {
        applicationId: 'app-1',
        code: '-OP',
        fundId: FUND,
        status: 'received',
        acquisitionValue: 180_000,
        since: SINCE,
      },
    ];
  });

  const client = (clientId: string, applicationId: string, name: string) => ({
    ...{ clientId, applicationId, name, fundIds: [FUND], rateLimitMultiplier: 1 },
    ...{ createdAt: SINCE, revokedAt: null },
  });
  const nothing = { select: () => nothing, where: () => nothing, limit: () => nothing };
  const known = loansOver({
    registry: { list: async () => clients as never },
    database: { builder: { selectFrom: () => nothing }, read: async () => [] } as never,
  });
  const run = (more: Partial<CliDependencies> = {}) =>
    commandLine(
      () => ({
        clients: { list: async () => clients as never },
        loans: {
          knowsFund: (id) => known.knowsFund(id),
          catchUp: async () => undefined,
          now: () => '2026-01-17T12:00:00.000Z',
        },
        administrator: { worklists: { pending: async () => pending } } as never,
      }),
      more,
    );

  test('a pipe gets JSON, one element a line; a terminal gets a table', async () => {
    const piped = await run()('client', 'list');
    expect(piped.lines.map(({ client_id: id }) => id)).toEqual(['client_1', 'client_2', 'client_3']);
    const shown = await run({ terminal: true })('client', 'list');
    expect(shown.out.split('\n')[0]).toMatch(/^client id +application id +name/);
    expect((await run({ terminal: true })('client', 'list', '-o', 'json')).out).toBe(piped.out);
  });

  test('amounts are amounts in every format, and CSV holds no formula', async () => {
    const of = async (format: string) => (await run()('administrator', 'pending', '-o', format)).out;
    expect(await of('json')).toContain(
      '"acquisition_value":1800.00,"since":"2026-01-15T12:00:00.000Z","waiting_seconds":172800',
    );
    expect(await of('table')).toMatch(/-OP +3f0c.* received +1800\.00 +2026-01-15T12:00:00Z +approve/);
    expect(await of('csv')).toContain(`app-1,'-OP,${FUND},received,1800.00,${SINCE},172800,approve`);
    expect((await run()('client', 'list', '-o', 'csv')).out).toContain(`"'=HYPERLINK(""http://evil"")"`);
  });

  test('what others chose does nothing to a terminal, coloured or not; NO_COLOR leaves no escape at all', async () => {
    const { out: shown } = await run({ terminal: true, colour: true })('client', 'list');
    expect(shown).toContain('\u001b[1mclient id\u001b[0m');
    expect(shown).toContain('Acme\\u001b[31m');
    expect((await run({ terminal: true })('client', 'list')).out).not.toContain('\u001b');
  });

  test('the spelling of before goes on working and says so', async () => {
    const { code, out, err } = await run()('client', 'list', '--format', 'csv');
    expect([code, out.split(',')[0], err]).toEqual([0, 'client_id', expect.stringContaining('-o')]);
  });

  test('only those that waited longer are listed', async () => {
    expect((await run()('administrator', 'pending', '--older-than', '1d')).lines).toHaveLength(1);
    expect((await run()('administrator', 'pending', '--older-than', '3d')).out).toBe('');
    expect((await run()('administrator', 'pending', '--older-than', 'long')).code).toBe(2);
  });

  test.each([
    [
      ['administrator', 'pending', '--fund', '1f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10'],
      3,
      'no application is linked',
    ],
    [['administrator', 'pending', '--application', 'nobody'], 3, 'no application has the id nobody'],
    [['administrator', 'pending', '--application', 'Acme\u001b[31m'], 2, 'name one of app-2, app-3'],
    [['administrator', 'pending', '--application', 'app-2'], 0, ''],
    [['administrator', 'pending', '--fund', FUND], 0, ''],
    [
      ['client', 'create', '--name', 'x', '--application', 'nobody', '--scope', 'events'],
      3,
      'no application has the id nobody',
    ],
  ] as const)('%j ends with %i', async (args, code, message) => {
    const result = await run()(...args);
    expect([result.code, result.err]).toEqual([code, expect.stringContaining(message)]);
  });

  test('a difference found is not dressed up as an error', async () => {
    const open = async (): Promise<never> => {
      throw new DifferencesFoundError('2 difference(s) found');
    };
    expect(await run({ open })('audit', 'verify')).toMatchObject({ code: 4, err: '2 difference(s) found\n' });
  });

  test('a reader that has left ends the command without a word', async () => {
    const write = async (): Promise<never> => {
      throw new OutputClosedError();
    };
    for (const args of [['client', 'list'], ['client', '--help'], ['--version']])
      expect(await run({ write })(...args)).toMatchObject({ code: 0, err: '' });
  });

  test('but what looks whether something is wrong ends with 1 where it is', async () => {
    const left: Partial<CliDependencies> = {
      write: async () => {
        throw new OutputClosedError();
      },
      examine: async () => [{ check: 'disk', state: 'failed', detail: '1 MiB free' }],
    };
    expect(await run(left)('doctor')).toMatchObject({ code: 1, err: 'error: disk: 1 MiB free\n' });
    const status = async () => ({
      ...{ running: false, place: '/data', found: null, roles: [], engines: [], operations: [] },
      ...{ followers: [], deliveriesWaiting: { webhooks: 0, oldestSince: null } },
      ...{ idleRoles: [], quarantined: 0 },
    });
    const result = await commandLine(() => maintaining({ status }), left)('status');
    expect(result).toMatchObject({ code: 1, err: 'error: no service runs on /data\n' });
  });

  test('but what looks for differences goes on to its end, and ends with 4 where there are some', async () => {
    let repaired = 0;
    async function* verify() {
      const event = { eventId: 'e', event: 'loan_received', code: 'OP-1', sequence: 0, timestamp: SINCE };
      const found = { ...event, kind: 'missing', webhookId: 'w', applicationId: 'a' } as const;
      for (; repaired < 3; repaired++) yield { ...found, detail: '', repaired: true };
      return { webhooks: 1, events: 3, deliveries: 0, differences: 3, repaired, heldBack: 0 };
    }
    const write = async (): Promise<never> => {
      throw new OutputClosedError();
    };
    const result = await commandLine(() => ({ webhooks: { verify } }), { write })(
      'webhook',
      'verify',
      '--repair',
    );
    expect([result.code, repaired]).toEqual([4, 3]);
  });

  test('a file of differences has its header where there are none, as every other list', async () => {
    async function* verify() {
      return { webhooks: 1, events: 3, deliveries: 3, differences: 0, repaired: 0, heldBack: 0 };
    }
    const result = await commandLine(() => ({ webhooks: { verify } }))('webhook', 'verify', '-o', 'csv');
    expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/^kind,[a-z_,]+\r?\n$/) });
  });

  test('--version prints the bare version', async () => {
    let out = '';
    const code = await runProgram(['--version'], {
      ...NOTHING,
      version: '1.2.3',
      write: (text) => (out += text),
    });
    expect([code, out]).toEqual([0, '1.2.3\n']);
  });

  test.each(['bash', 'zsh', 'fish'])('completion knows every command for %s', async (shell) => {
    const { code, out } = await run()('completion', shell);
    expect(code).toBe(0);
    for (const path of leaves) expect(out).toContain(path.at(-1)!);
  });
});
