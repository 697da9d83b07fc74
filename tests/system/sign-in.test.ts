import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { openConsole } from '../../infrastructure/composition/console.ts';
import { readConsoleConfiguration } from '../../infrastructure/composition/console-configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { formIn } from '../infrastructure/console/desk-world.ts';
import { assignIn } from '../lives/assign-in.ts';
import { World } from '../lives/world.ts';
import { loanRequest, smallPdf } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Agent } from '../support/openid/agent.ts';
import { CLIENT, TestProvider } from '../support/openid/test-provider.ts';
import { freePort } from '../support/service-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const NEW_KEY = randomBytes(32).toString('base64');
const MINUTE = 60_000;
const realClock = new ManualClock(new Date().toISOString());

jest.setTimeout(120_000);

let world: World;
let provider: TestProvider;
let metricsPort: number;
let settings: Readonly<Record<string, string>>;
let keys: Readonly<Record<string, string>>;
let console: Awaited<ReturnType<typeof openConsole>> & { readonly origin: string };
let desk: (...args: readonly string[]) => ReturnType<ReturnType<typeof commandLineBeside>>;

const openBeside = async (port: number): Promise<typeof console> => {
  const foundations = await openFoundations(
    readConfiguration({ ...world.environment, ...keys }),
    world.logger,
  );
  const parts = partsOf({ ...foundations, clock: world.clock, realClock });
  const given = { host: '127.0.0.1', port, readOnly: false, idleMs: 30 * MINUTE };
  const running = await openConsole(parts, given, readConsoleConfiguration(settings));
  return {
    ...running,
    origin: `http://localhost:${port}`,
    close: async () => {
      await running.close();
      await foundations.close();
    },
  };
};

beforeAll(async () => {
  world = await World.start();
  const [port, forMetrics] = await Promise.all([freePort(), freePort()]);
  metricsPort = forMetrics;
  const origin = `http://localhost:${port}`;
  provider = await TestProvider.open([origin]);
  provider.people.set('maria', { name: 'Maria Souza', roles: ['desk', 'audit'] });
  provider.next = 'maria';
  keys = { MASTER_KEY: NEW_KEY, MASTER_KEY_PREVIOUS: world.environment['MASTER_KEY']! };
  settings = {
    CONSOLE_PUBLIC_URL: origin,
    CONSOLE_OIDC_ISSUER: provider.issuer,
    CONSOLE_OIDC_CLIENT_ID: CLIENT.id,
    CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret,
    CONSOLE_OIDC_ROLES: 'maker=desk,checker=desk,auditor=audit',
    METRICS_PORT: String(metricsPort),
  };
  console = await openBeside(port);
  desk = commandLineBeside({ ...world.environment, ...keys });
});
afterAll(async () => {
  await console.close();
  await provider.close();
  await world.stop();
});

test('who is signed in is listed, and can be put out', async () => {
  expect(console.newAddress()).toBe(console.origin);
  const agent = new Agent();
  const { text } = await agent.visit(`${console.origin}/session/start?to=%2Fdecisions`);
  expect([text.includes('Maria Souza'), text.includes('<form method="post" action="/session/end"')]).toEqual([
    true,
    false,
  ]);
  realClock.advance(MINUTE);
  await agent.ask(`${console.origin}/`);
  const { lines, code } = await desk('desk', 'sessions', '-o', 'json');
  const at = (text: string): number => Date.parse(realClock.realNow()) - Date.parse(text);
  expect([code, lines.length]).toEqual([0, 1]);
  expect(lines[0]).toMatchObject({
    name: 'Maria Souza',
    ...{ issuer: provider.issuer, subject: 'maria', roles: ['maker', 'checker', 'auditor'] },
  });
  expect([lines[0].begun_at, lines[0].last_used_at, lines[0].until].map(at)).toEqual([
    MINUTE,
    0,
    -30 * MINUTE,
  ]);
  const csv = await desk('desk', 'sessions', '-o', 'csv');
  expect(csv.out.split('\n')[0]).toBe('session_id,name,issuer,subject,roles,begun_at,last_used_at,until');
  expect((await desk('desk', 'sessions', '-o', 'table')).out).toContain('Maria Souza');
  const id = lines[0].session_id as string;
  const ended = await desk('desk', 'sessions', '--end', id);
  expect([ended.code, ended.lines]).toEqual([0, [{ session_id: id, ended: true }]]);
  expect((await agent.ask(`${console.origin}/`)).status).toBe(401);
  const again = await desk('desk', 'sessions', '--end', id);
  expect([again.code, again.err]).toEqual([3, `error: no session ${id} that has not ended\n`]);
});

test('a decision is in the name of who is signed in', async () => {
  const application = await world.createApplication();
  const fund = application.funds[0]!;
  await assignIn(world, application, loanRequest(fund, 'OP-1'), smallPdf('OP-1'));
  const agent = new Agent();
  await agent.visit(`${console.origin}/session/start`);
  const { text: token } = await agent.ask(`${console.origin}/session`);
  const post = (path: string, fields: readonly (readonly [string, string])[]) =>
    agent.ask(`${console.origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: console.origin },
      body: new URLSearchParams([
        ['form_token', token],
        ...fields.map(([name, value]): [string, string] => [name, value]),
      ]).toString(),
    });
  const preview = await post('/decisions/preview', [
    ['decision', 'approve'],
    ['operation', `${application.applicationId}/OP-1`],
  ]);
  const shown = await agent.ask(`${console.origin}${preview.headers.location ?? ''}`);
  const form = formIn(preview.status === 303 ? shown.text : preview.text);
  expect((await post('/decisions/decide', form.fields)).status).toBe(303);
  const { out } = await desk(
    'audit',
    'show',
    'OP-1',
    '--application',
    application.applicationId,
    '-o',
    'json',
  );
  expect(out).toContain('administrator/Maria Souza');
  await agent.ask(`${console.origin}/session/end`);
});

test('what the provider gave is wrapped anew with the master key', async () => {
  const agent = new Agent();
  await agent.visit(`${console.origin}/session/start`);
  expect((await desk('keys', 'rotate-master')).code).toBe(0);
  const database = world.parts.serviceDatabase;
  const [{ sealed_tokens: sealed } = { sealed_tokens: '' }] = await database.read(
    database.builder.selectFrom('desk_session').select('sealed_tokens'),
  );
  const [check] = await database.read(
    database.builder.selectFrom('wrapped_key').select('wrapped').where('name', '=', 'master-key:check'),
  );
  expect(sealed.slice(0, 20)).toBe(check!.wrapped.slice(0, 20));
  const before = provider.asked.filter((path) => path === '/token').length;
  realClock.advance(5 * MINUTE);
  expect((await agent.ask(`${console.origin}/`)).status).toBe(200);
  expect(provider.asked.filter((path) => path === '/token')).toHaveLength(before + 1);
});

test('who is not let in is counted, and shows where Prometheus looks', async () => {
  const counted = async (): Promise<readonly string[]> => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    const text = await answer.text();
    expect([answer.status, text.includes('process_resident_memory_bytes')]).toEqual([200, true]);
    // That would say that the service runs.
    expect(text).not.toContain('receivables_info');
    return [...text.matchAll(/^receivables_console_refused_sign_ins_total.*$/gm)].map(([line]) => line);
  };
  const NAME = 'receivables_console_refused_sign_ins_total';
  expect(await counted()).toEqual([`${NAME}{when="sign_in"} 0`, `${NAME}{when="session"} 0`]);
  const { status } = await new Agent().ask(`${console.origin}/session/callback?code=a&state=b`);
  expect(status).toBe(401);
  expect(await counted()).toEqual([`${NAME}{when="sign_in"} 1`, `${NAME}{when="session"} 0`]);
});

const command = (args: readonly string[], variables: Readonly<Record<string, string>>) => {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const file = 'infrastructure/composition/receivables.ts';
  return {
    args: ['--disable-warning=ExperimentalWarning', file, 'console', '--no-open', ...args],
    options: { cwd: root, env: { ...environment, ...world.environment, ...keys, ...variables } },
  };
};

test('the command prints its public address and no token', async () => {
  const { args, options } = command([], settings);
  const child = spawn(process.execPath, args, options);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    child.kill('SIGTERM');
  });
  const [code] = (await once(child, 'close')) as [number];
  expect([code, out]).toEqual([0, `${console.origin}\n`]);
});

test('--operator is wrong use where people sign in, said in one line', async () => {
  const { args, options } = command(['--operator', 'maria'], settings);
  await expect(promisify(execFile)(process.execPath, args, options)).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^error: --operator [^\n]+\n$/),
  });
});
