import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { openConsole } from '../../infrastructure/composition/console.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { auditOf, tamper } from '../support/audited-world.ts';
import { receivablesOn } from '../support/command-line-beside.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A borrower none of whose data is anywhere else, so that each place where it lies is found. */
const BORROWER = {
  document_number: '11144477735',
  document_type: 'CPF',
  name: 'Tarsila Quintanilha',
  birth_date: '1985-03-12',
  email: 'tarsila.q@example.com',
  phone: '+5511977776666',
  address: {
    ...{ zip_code: '01310100', street: 'Rua Alvarenga Peixoto', number: '7' },
    ...{ city: 'Sao Paulo', state: 'SP' },
  },
};

const FILE_NAME = 'CCB Tarsila.pdf';
const PERSONAL = ['Tarsila', 'Quintanilha', '11144477735', '111.444.777-35'];

/** Milliseconds: each command opens stores of its own. */
const LONG = 300_000;

const directory = temporaryDirectory();
let [dataDir, restored] = ['', ''];
const fund = randomUUID();
let service: RunningService;
let api: ApiClient;
let [application, documentId] = ['', ''];

beforeAll(async () => {
  [dataDir, restored] = [join(directory, 'data'), join(directory, 'restored')];
  receivables = receivablesOn(dataDir);
  // Nothing is decided but by this test.
  service = await RunningService.start({ DATA_DIR: dataDir, SANDBOX_STEP: '24h' });
  const client = JSON.parse(await receivables('client', 'create', '--name', 'test', '--fund', fund));
  application = client.application_id;
  api = new ApiClient(service.baseUrl, client);
  const request = loanRequest(fund, 'OP-1', 1, {
    borrower: BORROWER,
    backing_documents: [{ type: 'ccb', value: FILE_NAME }],
  });
  const file = { name: FILE_NAME, content: smallPdf('CCB') };
  const assigned = await api.call('POST', '/loan', multipart('loan_data', request, [file]));
  expect(assigned.status).toBe(201);
  documentId = (await api.call('GET', '/loan/OP-1')).body.documents[0].document_id;
}, LONG);
afterAll(() => service?.stop());

/** On the directory that the service runs on. */
let receivables: ReturnType<typeof receivablesOn>;

type Line = Readonly<Record<string, string | number | null>>;

const logged = async (...options: readonly string[]): Promise<readonly Line[]> => {
  const text = await receivables('desk', 'log', '-o', 'json', ...options);
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
};
const what = ({
  way,
  name,
  action,
  outcome,
  reason,
  originator_proposal_code: code,
  decision,
}: Line): string =>
  [way, name, action, outcome, reason, code, decision].filter((part) => part !== null).join(' ');

/** Somebody at the console, beside the service, asks for these; forms are posted. */
const atTheConsole = async (
  visits: readonly (string | readonly [string, Readonly<Record<string, string>>])[],
) => {
  const environment = { DATA_DIR: dataDir, METRICS_PORT: 'off' };
  const foundations = await openFoundations(readConfiguration(environment), new RecordingLogger());
  const settings = { host: '127.0.0.1', port: 0, operator: 'maria', readOnly: false, idleMs: 3_600_000 };
  const console = await openConsole(partsOf(foundations), settings);
  try {
    const address = new URL(console.newAddress());
    const { headers } = await fetch(address, { redirect: 'manual' });
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    const token = await (await fetch(new URL('/session', address), { headers: { cookie } })).text();
    const statuses: number[] = [];
    for (const visit of visits) {
      const [path, fields] = typeof visit === 'string' ? [visit] : visit;
      const form = fields && { method: 'POST', body: new URLSearchParams({ form_token: token, ...fields }) };
      const answer = await fetch(new URL(path, address), {
        headers: { cookie, origin: address.origin },
        ...form,
      });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    return statuses;
  } finally {
    await console.close();
    await foundations.close();
  }
};

test(
  'what is looked at and refused at the console is in the log, and nothing of what was typed',
  async () => {
    const operation = `${application}/OP-1`;
    expect(
      await atTheConsole([
        `/operations/${operation}`,
        `/decisions/${operation}`,
        `/documents/${operation}/${documentId}`,
        ['/operations/search', { document: BORROWER.document_number }],
        `/operations/${application}/${BORROWER.document_number}`,
        `/operations/Tarsila/${BORROWER.name}`,
        ['/audit/explain', { code: BORROWER.document_number, application }],
        `/decisions?fund=${fund}`,
      ]),
    ).toEqual([200, 200, 200, 200, 404, 404, 422, 200]);
    const lines = await logged();
    expect(lines.filter(({ way }) => way === 'console').map(what)).toEqual([
      'console maria signed_in done',
      ...['viewed', 'viewed', 'downloaded'].map((action) => `console maria ${action} done OP-1`),
      'console maria searched done',
      'console maria listed done',
      'console maria refused refused not_found',
      'console maria refused refused not_found',
      'console maria refused refused loan_not_found',
      'console maria listed done',
    ]);
    const [seen] = lines.filter(({ action }) => action === 'downloaded');
    expect(seen).toMatchObject({ application_id: application, fund_id: fund, document_id: documentId });
    expect(new Set(lines.map(({ stream }) => stream)).size).toBe(2);
  },
  LONG,
);

test(
  'what the command line decides, shows and changes is in the log with its outcome',
  async () => {
    const ana = ['--operator', 'Ana'];
    await receivables('administrator', 'approve', 'OP-1', ...ana);
    await receivables('administrator', 'approve', 'OP-1', ...ana);
    const again = receivables('administrator', 'process-repurchase', 'OP-1', ...ana);
    await expect(again).rejects.toMatchObject({ code: 3 });
    const unknown = ['approve', '52998224725', '--application', application];
    await expect(receivables('administrator', ...unknown, ...ana)).rejects.toMatchObject({ code: 3 });
    await receivables('fund', 'name', '--fund', fund, 'Aurora', ...ana);
    await receivables('loan', 'show', 'OP-1');
    const ofAna = (await logged()).filter(({ name }) => name === 'Ana');
    expect(ofAna.map(what)).toEqual([
      'command_line Ana decided applied OP-1 approve',
      'command_line Ana decided already_applied OP-1 approve',
      'command_line Ana refused refused operation_invalid_state OP-1 process_repurchase',
      'command_line Ana refused refused loan_not_found approve',
      'command_line Ana configured done name_fund',
    ]);
    const ofOperation = await logged('--code', 'OP-1', '--fund', 'Aurora');
    expect(ofOperation.map(({ fund_name }) => fund_name)).toEqual(ofOperation.map(() => 'Aurora'));
    expect(ofOperation.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['viewed', 'downloaded', 'decided', 'refused']),
    );
    expect(await logged('--since', '2100-01-01T00:00:00Z')).toEqual([]);
    expect(await logged('--subject', 'nobody')).toEqual([]);
    await expect(logged('--fund', 'Boreal')).rejects.toMatchObject({ code: 3 });
    expect(await receivables('desk', 'log', '-o', 'csv')).toMatch(/^at,way,issuer,.*,fund_id,fund_name,/);
  },
  LONG,
);

test(
  'six commands at once leave six lines',
  async () => {
    const before = (await logged()).length;
    await Promise.all(Array.from({ length: 6 }, () => receivables('loan', 'show', 'OP-1')));
    expect(await logged()).toHaveLength(before + 6);
  },
  LONG,
);

test(
  'integrators, the feed and the read models see nothing of it',
  async () => {
    const { body } = await api.call('GET', '/event');
    expect(JSON.stringify(body)).not.toContain('desk');
    expect(await receivables('events')).not.toContain('desk');
    expect(await receivables('quarantine', 'list')).toBe('');
    const followers = await receivables('status', '-o', 'json');
    expect(followers).not.toMatch(/"problem":"/);
  },
  LONG,
);

test(
  'a borrower who was forgotten is in no byte of the directory, and the log still says what was seen',
  async () => {
    const forgetting = ['borrower', 'forget', '--document', BORROWER.document_number];
    await receivables(...forgetting, '--including-open', '--yes');
    const lines = await logged();
    expect(lines.map(({ decision }) => decision)).toContain('forget_borrower');
    expect(lines.filter(({ action }) => action === 'downloaded')).toMatchObject([
      { document_id: documentId },
    ]);
    await service.stop();
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      const bytes = await readFile(join(entry.parentPath, entry.name));
      for (const part of PERSONAL)
        expect([entry.name, part, bytes.includes(part)]).toEqual([entry.name, part, false]);
    }
    service = await RunningService.start({ DATA_DIR: dataDir, SANDBOX_STEP: '24h' });
  },
  LONG,
);

test(
  'it is audited, sealed, and held by a backup',
  async () => {
    const summary = JSON.parse(await receivables('audit', 'verify', '-o', 'json'));
    expect(summary).toMatchObject({ differences: 0 });
    const [before, copy] = [await receivables('desk', 'log', '-o', 'csv'), join(directory, 'copy')];
    await receivables('backup', '--to', copy, '--with-key');
    await receivables('restore', '--from', copy, '--data-dir', restored);
    await service.stop();
    service = await RunningService.start({ DATA_DIR: restored, SANDBOX_STEP: '24h' });
    receivables = receivablesOn(restored);
    expect(await receivables('desk', 'log', '-o', 'csv')).toBe(before);
    await service.stop();
    tamper(join(restored, 'events.db'), (db) => {
      db.exec(`update events set data = replace(data, '"Ana"', '"Eva"') where type = 'desk.line_written.v1'`);
    });
    const { code, lines } = await auditOf(restored, ['verify', '-o', 'json']);
    expect(code).toBe(4);
    expect(lines.map(({ kind, stream }) => `${kind} ${stream}`)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^chain desk-command_line-/)]),
    );
  },
  LONG,
);
