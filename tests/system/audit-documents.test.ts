import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import { RunningService } from '../support/running-service.ts';

const CODES = ['WHOLE', 'GONE', 'CHANGED', 'SWAPPED', 'FORGOTTEN'];
const FORGOTTEN = '11144477735';

let service: RunningService;
let application = '';
let api: ApiClient;
const documents = new Map<string, string>();
const receivables = commandLine(() => service.service.parts);

beforeAll(async () => {
  service = await RunningService.start();
  const fund = randomUUID();
  const client = await service.createClient(fund);
  application = client.application_id;
  api = new ApiClient(service.baseUrl, client);
  for (const code of CODES) {
    const request = loanRequest(fund, code, 2) as { readonly borrower: object };
    const document_number = code === 'FORGOTTEN' ? FORGOTTEN : '52998224725';
    const borrower = { ...request.borrower, document_number };
    expect((await api.assign({ ...request, borrower })).status).toBe(201);
    const { body } = await api.untilStatus(code, 'active');
    documents.set(code, body.documents[0].document_id);
  }
  const { code } = await receivables(
    'borrower',
    'forget',
    '--document',
    FORGOTTEN,
    '--including-open',
    '--yes',
  );
  expect(code).toBe(0);
});
afterAll(() => service.stop());

/** The only file of an operation. */
const fileOf = (code: string): string => {
  const digest = createHash('sha256').update(loanStream(application, code)).digest('hex');
  const { dataDir } = service.service.parts.configuration;
  const directory = join(dataDir, 'documents', digest);
  return join(directory, readdirSync(directory)[0]!);
};

const verify = (...more: readonly string[]) => receivables('audit', 'verify', '-o', 'json', ...more);

test('files that are as they came differ in nothing, and one that was forgotten is not missed', async () => {
  const { code, lines } = await verify('--documents');
  expect(lines).toEqual([expect.objectContaining({ documents: 4, differences: 0 })]);
  expect(code).toBe(0);
  // What keeps the read models of this process goes on behind an audit that is made in it.
  expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
});

test('a file that is gone, changed or that of another operation is a difference, where files are read', async () => {
  rmSync(fileOf('GONE'));
  const bytes = readFileSync(fileOf('CHANGED'));
  bytes[bytes.length - 20]! ^= 1;
  writeFileSync(fileOf('CHANGED'), bytes);
  copyFileSync(fileOf('WHOLE'), fileOf('SWAPPED'));
  const { code, lines } = await verify('--documents');
  const found = lines.slice(0, -1).map((line) => [line.kind, line.stream, line.revision, line.found]);
  const noFile = 'no file that the key of the operation opens';
  expect(found.toSorted()).toEqual(
    [
      ['document', loanStream(application, 'GONE'), 0, noFile],
      ['document', loanStream(application, 'CHANGED'), 0, 'a file that was damaged or changed'],
      ['document', loanStream(application, 'SWAPPED'), 0, noFile],
    ].toSorted(),
  );
  expect(lines[0]).toMatchObject({
    what: expect.stringMatching(/^file of document [0-9a-f-]{36}$/),
    expected: expect.stringMatching(/^\d+ bytes with SHA-256 [0-9a-f]{64}$/),
  });
  expect([code, lines.at(-1).documents]).toEqual([4, 4]);
  expect((await verify()).code).toBe(0);
});

test('one that is gone is not found, and its operators are told by a line a minute, which names it', async () => {
  const documentId = documents.get('GONE');
  for (const [code, id] of [
    ['GONE', documentId],
    ['GONE', documentId],
    ['GONE', randomUUID()],
    ['FORGOTTEN', documents.get('FORGOTTEN')],
  ])
    expect((await api.call('GET', `/loan/${code}/documents/${id}`)).status).toBe(404);
  const lines = service.logger.lines.filter(({ message }) => message.includes('file of a document'));
  expect(lines).toEqual([
    {
      level: 'error',
      message: expect.stringContaining('put it back from a backup'),
      fields: {
        event: 'file_missing',
        stream: loanStream(application, 'GONE'),
        documentId,
        count: 1,
      },
    },
  ]);
});

test('a store of documents that is not there ends the audit, and says nothing of its files', async () => {
  const { store } = service.service.parts.documents;
  const { open } = store;
  store.open = () => Promise.reject(new StoreUnavailableError('document storage cannot be reached'));
  const { code, lines, err } = await verify('--documents').finally(() => (store.open = open));
  expect([code, lines]).toEqual([1, []]);
  expect(err).toContain('document storage cannot be reached');
});
