import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ERRORS } from '../../infrastructure/http/errors/error-table.ts';
import { RATE_ROWS } from '../../infrastructure/http/limits/rate-limiter.ts';
import { API_VERSION } from '../../infrastructure/http/openapi/version.ts';
import { signingKeyOf, timedSignatureOf } from '../../infrastructure/webhooks/sending/webhook-sender.ts';
import { OPERATIONS } from '../../infrastructure/http/resources/endpoints.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const guide = readFileSync(join(DOCS, 'integrators-guide.md'), 'utf8');

const between = (name: string): string =>
  new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)\\n?<!-- /${name} -->`).exec(guide)?.[1]?.trim() ?? '';
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';
/** The shell block of a page that holds this text. */
const shellWith = (page: string, part: string): string =>
  [...page.matchAll(/```bash\n([\s\S]*?)```/g)]
    .map(([, text = '']) => text)
    .find((text) => text.includes(part) && !text.includes('/token')) ?? '';
const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

const errorsTable = (): string =>
  [
    '| HTTP | `error_code` | Meaning | Send again? |',
    '|---|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([code, { status, meaning, retryable }]) =>
        `| ${status} | \`${code}\` | ${meaning} | ${retryable ? 'yes' : ''} |`,
    ),
  ].join('\n');

const limitsTable = (): string => {
  const endpoints = (row: string): string =>
    OPERATIONS.filter(({ bucket }) => bucket === row)
      .map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``)
      .join(', ');
  return [
    '| Requests | A minute | At once |',
    '|---|---|---|',
    ...Object.entries(RATE_ROWS).map(
      ([row, { perMinute, burst }]) =>
        `| ${row === 'read' ? 'every `GET`' : endpoints(row)} | ${perMinute} | ${burst} |`,
    ),
  ].join('\n');
};

describe('the tables of the guide', () => {
  test('of errors is the table that the service answers from', () => {
    expect(between('errors')).toBe(errorsTable());
  });

  test('of rate limits is the one that the service counts by', () => {
    expect(between('limits')).toBe(limitsTable());
  });

  test('of versions begins with the present one', () => {
    const changelog = readFileSync(join(DOCS, 'changelog.md'), 'utf8');
    expect(/^\| (\d\S*) \|/m.exec(changelog)?.[1]).toBe(API_VERSION);
  });

  test.each(['integrators-guide.md', 'interface-decisions.md', 'changelog.md'])(
    '%s links to pages that exist',
    (name) => {
      const links = [...readFileSync(join(DOCS, name), 'utf8').matchAll(/\]\(([^)#]+)[^)]*\)/g)];
      for (const [, target = ''] of links)
        expect([target, existsSync(join(DOCS, target))]).toEqual([target, true]);
    },
  );
});

describe('the verifiers of the guide', () => {
  const secret = 'whsec_Zm9vYmFyYmF6';
  const body = JSON.stringify({ event: 'loan_received', text: 'São Paulo', value: 950 });
  const now = 1_768_478_401;
  const eventId = '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69';
  const key = signingKeyOf(secret);
  const genuine = {
    'x-svc-event-id': eventId,
    'x-svc-timestamp': String(now),
    'x-svc-signature-v2': timedSignatureOf(eventId, String(now), Buffer.from(body), key),
  };
  const late = String(now - 301);
  const cases = [
    { headers: genuine, body, secret, genuine: true },
    { headers: genuine, body: `${body} `, secret, genuine: false },
    { headers: genuine, body, secret: `${secret}x`, genuine: false },
    { headers: { ...genuine, 'x-svc-event-id': 'other' }, body, secret, genuine: false },
    { headers: { ...genuine, 'x-svc-timestamp': String(now + 1) }, body, secret, genuine: false },
    { headers: { ...genuine, 'x-svc-timestamp': 'x' }, body, secret, genuine: false },
    { headers: { ...genuine, 'x-svc-timestamp': '²' }, body, secret, genuine: false },
    { headers: { ...genuine, 'x-svc-signature-v2': 'zz' }, body, secret, genuine: false },
    { headers: { ...genuine, 'x-svc-signature-v2': 'çã' }, body, secret, genuine: false },
    // Bytes that are no text, as some servers hand them on.
    { headers: { ...genuine, 'x-svc-signature-v2': '\udcff' }, body, secret, genuine: false },
    { headers: { ...genuine, 'x-svc-event-id': '\udcff' }, body, secret, genuine: false },
    { headers: { 'x-svc-event-id': eventId }, body, secret, genuine: false },
    {
      headers: {
        ...genuine,
        'x-svc-timestamp': late,
        'x-svc-signature-v2': timedSignatureOf(eventId, late, Buffer.from(body), key),
      },
      body,
      secret,
      genuine: false,
    },
  ];
  let directory: string;
  beforeAll(async () => {
    directory = temporaryDirectory();
    await writeFile(join(directory, 'cases.json'), JSON.stringify(cases));
  });

  const drivers = {
    ts: {
      program: process.execPath,
      file: 'verify.ts',
      driver: `
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
console.log(JSON.stringify(cases.map((one: any) => isGenuine(one.headers, Buffer.from(one.body), one.secret, ${now}))));
`,
    },
    python: {
      program: 'python3',
      file: 'verify.py',
      driver: `
import json
cases = json.load(open("cases.json", encoding="utf-8"))
print(json.dumps([is_genuine(one["headers"], one["body"].encode(), one["secret"], ${now}) for one in cases]))
`,
    },
  };
  // The project needs nothing but Node.js; where Python is missing, its copy cannot be run.
  const runnable = (Object.keys(drivers) as (keyof typeof drivers)[]).filter((language) =>
    isInstalled(drivers[language].program),
  );

  test.each(runnable)('in %s accept what is genuine and nothing else', async (language) => {
    const { program, file, driver } = drivers[language];
    await writeFile(join(directory, file), block(language) + driver);
    const flags =
      language === 'ts' ? ['--disable-warning=ExperimentalWarning', '--experimental-strip-types'] : [];
    const printed = execFileSync(program, [...flags, file], { cwd: directory, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual(cases.map((one) => one.genuine));
  });
});

const shells = ['bash', 'curl'].every(isInstalled) ? ['bash'] : [];
describe('the quick start', () => {
  test('is there', () => {
    expect(block('bash')).toContain('/installment/settle');
  });

  test.each(shells)('runs as it stands, in %s', async (shell) => {
    const running = await RunningService.start();
    const directory = temporaryDirectory();
    const client = await running.createClient('6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11', 1);
    try {
      const environment = {
        ...process.env,
        BASE: running.baseUrl,
        CLIENT_ID: client.client_id,
        CLIENT_SECRET: client.client_secret,
        FUND: client.fund_ids[0],
      };
      const { stdout } = await promisify(execFile)(shell, ['-euo', 'pipefail', '-c', block('bash')], {
        cwd: directory,
        env: environment,
      });
      // What the guide shows further on goes on from there.
      const api = new ApiClient(running.baseUrl, client);
      const further = { cwd: directory, env: { ...environment, TOKEN: await api.token() } };
      await within('an installment is overdue', 60_000, async () => {
        const { body } = await api.loan('GUIDE-1');
        return body.installments.some(({ status }: { status: string }) => status === 'overdue');
      });
      const run = (part: string) =>
        promisify(execFile)(shell, ['-euo', 'pipefail', '-c', shellWith(guide, part)], further);
      const [found, filed, quoted] = await Promise.all(
        ['overdue=true', '/loan/files', 'quote.json'].map(run),
      );
      expect(JSON.parse(found!.stdout).data).toMatchObject([{ originator_proposal_code: 'GUIDE-1' }]);
      expect(JSON.parse(filed!.stdout).documents).toMatchObject([{ type: 'invoice', value: 'invoice.pdf' }]);
      const quote = JSON.parse(quoted!.stdout);
      expect(quote).toMatchObject({ status: 'quoted', files_checked: false, lines: [{}, {}] });
      expect(guide).toContain(`"${quote.annual_rate}"`);
      expect(JSON.parse((await run('/installment/settle/batch')).stdout).results).toMatchObject([
        { line: 1, status: 200, replayed: true },
        { line: 2, status: 200, replayed: false },
      ]);
      const feed = JSON.parse((await run('/event?limit=')).stdout);
      expect(feed.data[0]).toMatchObject({ event: 'loan_received', originator_proposal_code: 'GUIDE-1' });
      expect(stdout).toContain('"status":"received"');
      expect(stdout).toContain('"status":"settled"');
      expect(stdout).toContain('"settled_value":950.00');
    } finally {
      await running.stop();
    }
  });
});

test.each(shells)(
  'the form of a renegotiation runs as its page shows it, and the signed copy after it, in %s',
  async (shell) => {
    const page = readFileSync(join(DOCS, 'renegotiation.md'), 'utf8');
    const running = await RunningService.start();
    const directory = temporaryDirectory();
    try {
      const client = await running.createClient('6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11', 1);
      const api = new ApiClient(running.baseUrl, client);
      for (const code of ['OLD-1', 'OLD-2']) await api.assign(loanRequest(api.fund, code, 2));
      for (const code of ['OLD-1', 'OLD-2']) await api.untilStatus(code, 'active');
      for (const name of ['debt.pdf', 'signed.pdf']) await writeFile(join(directory, name), '%PDF-1.4');
      const environment = { ...process.env, BASE: running.baseUrl, TOKEN: await api.token() };
      const run = (part: string) =>
        promisify(execFile)(shell, ['-euo', 'pipefail', '-c', shellWith(page, part)], {
          cwd: directory,
          env: environment,
        });
      expect(JSON.parse((await run('/loan/renegotiate')).stdout)).toMatchObject({
        status: 'renegotiated',
        original_proposal_codes: ['OLD-1', 'OLD-2'],
        new_proposal: { originator_proposal_code: 'NEW-1' },
      });
      await api.untilStatus('NEW-1', 'active');
      expect(JSON.parse((await run('/loan/files')).stdout).documents).toMatchObject([
        { type: 'renegotiation_signature', value: 'signed.pdf' },
      ]);
    } finally {
      await running.stop();
    }
  },
);
