import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FUND } from '../support/application-parts.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { ClientCredentials } from '../support/api-client.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
/** A page's own snippets, one after another, as a reader pastes them. */
const snippetsOf = (page: string): string =>
  [...readFileSync(join(ROOT, 'docs', 'jobs', page), 'utf8').matchAll(/^```bash\n([\s\S]*?)^```/gm)]
    .map(([, code]) => code)
    .join('\n');

let service: ServiceProcess;
let client: ClientCredentials;
const directory = temporaryDirectory();
beforeAll(async () => {
  service = await ServiceProcess.start(join(directory, 'data'), { SANDBOX_STEP: '100ms' });
  client = await service.createClient(FUND);
}, 300_000);
afterAll(() => service?.end('SIGTERM'));

const RECEIVABLES = `receivables() { "${process.execPath}" --disable-warning=ExperimentalWarning "${ROOT}/infrastructure/composition/receivables.ts" "$@"; }`;

const paste = async (page: string, by = client): Promise<string> => {
  const { stdout } = await run(
    'bash',
    [
      '-euo',
      'pipefail',
      '-c',
      `${snippetsOf('README.md').replace(/^receivables\(\).*$/m, () => RECEIVABLES)}\n${snippetsOf(page)}`,
    ],
    {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        DATA_DIR: join(directory, 'data'),
        ...{ BASE: service.baseUrl, FUND: by.fund_ids[0] },
        ...{ CLIENT_ID: by.client_id, CLIENT_SECRET: by.client_secret },
      },
      timeout: 170_000,
    },
  );
  return stdout;
};

test('assign an operation and wait for the money', async () => {
  const [first, repeated, read, settled] = objectsOf(await paste('assign-and-wait.md'));
  expect(first).toMatchObject({ originator_proposal_code: 'JOB-1', status: 'received' });
  expect(repeated).toMatchObject({ originator_proposal_code: 'JOB-1', received_at: first?.['received_at'] });
  expect(read).toMatchObject({ status: 'active' });
  expect(settled).toMatchObject({ installment_code: '001', status: 'settled' });
}, 300_000);

test('receive webhooks', async () => {
  const [subscribed, listed, ping, deliveries, failed, again, feed, rotated] = objectsOf(
    await paste('receive-webhooks.md'),
  );
  expect(subscribed).toHaveProperty('signing_secret');
  expect(listed).toMatchObject({ data: [{ url: 'https://receiver.example.com/hook' }] });
  expect(ping).toHaveProperty('event_id');
  expect(deliveries).toHaveProperty('data');
  expect(failed).toMatchObject({ data: [] });
  expect(again).toMatchObject({ queued: 0, status: 'completed' });
  expect(feed).toMatchObject({ has_more: false });
  expect(rotated).toHaveProperty('signing_secret');
}, 300_000);

test('decide on what waits', async () => {
  const printed = objectsOf(await paste('decide-what-waits.md'));
  const outcomes = printed.filter((object) => 'outcome' in object);
  expect(outcomes.map(({ originator_proposal_code: code, decision }) => [code, decision])).toEqual([
    ['WAIT-3', 'reject'],
    ...[
      ['WAIT-1', 'approve'],
      ['WAIT-2', 'approve'],
      ['WAIT-1', 'sign_term'],
      ['WAIT-2', 'sign_term'],
    ],
    ...[
      ['WAIT-2', 'disburse'],
      ['WAIT-1', 'disburse'],
    ],
  ]);
  const states = printed.filter((object) => 'status' in object && !('outcome' in object)).slice(-4);
  expect(states.map(({ status }) => status)).toEqual(
    expect.arrayContaining(['active', 'active', 'rejected']),
  );
}, 300_000);

test('close a month', async () => {
  const text = await paste('month-end-reconciliation.md', await service.createClient(randomUUID()));
  expect(text).toMatch(/missing_in_statement,.*MONTH-1/);
  expect(text).toMatch(/missing_in_notifications,.*TARIFA/);
  const portfolio = objectsOf(text).find((object) => 'overdue_by_age' in object);
  expect(portfolio).toMatchObject({ operations: 1, settled: { to_date: { amount: 950 + 950 } } });
  expect(objectsOf(text).at(-1)).toMatchObject({ differences: 0 });
}, 300_000);

test('a borrower asks to be forgotten', async () => {
  const printed = objectsOf(await paste('forget-a-borrower.md'));
  expect(printed.find((object) => 'forgotten' in object)).toMatchObject({ forgotten: 1, left_open: 0 });
  expect(printed.at(-1)).toMatchObject({ differences: 0 });
}, 300_000);

/** The blocks of shell lines below a heading of a page. */
const blocksBelow = (page: string, heading: string): readonly string[] => {
  const [, after = ''] = readFileSync(join(ROOT, page), 'utf8').split(`\n## ${heading}\n`);
  return [...after.split('\n## ')[0]!.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
};

test("the README's first call", async () => {
  const pasted = blocksBelow('README.md', 'A first call').slice(0, 2).join('\n');
  const npm = `${RECEIVABLES}\nnpm() { shift 4; receivables "$@"; }`;
  const { stdout } = await run(
    'bash',
    ['-euo', 'pipefail', '-c', `${npm}\n${pasted.replaceAll('localhost:3000', service.baseUrl)}`],
    {
      cwd: directory,
      env: { PATH: process.env['PATH'], DATA_DIR: join(directory, 'data') },
    },
  );
  expect(stdout.match(/"originator_proposal_code":"FIRST-1"/g)).toHaveLength(2);
  expect(stdout).toContain('"status":"active"');
}, 300_000);

test('certificates for a receiver on this machine', async () => {
  const [certificates = ''] = blocksBelow(
    'docs/local-receiver.md',
    'With TLS: a subscription and a certificate of your own',
  );
  const check = 'openssl verify -CAfile ca.pem -verify_hostname localhost receiver.pem';
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${certificates}${check}`], {
    cwd: directory,
  });
  expect(stdout).toContain('receiver.pem: OK');
}, 300_000);

const objectsOf = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
