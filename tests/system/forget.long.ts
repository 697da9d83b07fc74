import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { BORROWER } from '../support/borrower-to-find.ts';
import { ServiceProcess } from '../support/service-process.ts';

const FILE_NAME = 'CCB Tarsila 111.444.777-35.pdf';
const PERSONAL = [
  ...['Tarsila', '111.444.777-35'],
  BORROWER.document_number,
  'Quintanilha',
  BORROWER.email,
  'Alvarenga Peixoto',
  'DOCUMENT-TEXT',
];

let service: ServiceProcess;
let api: ApiClient;

beforeAll(async () => {
  service = await ServiceProcess.alone({ SANDBOX_STEP: '1ms', LOG_LEVEL: 'debug' });
  api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
}, 300_000);
afterAll(() => service?.leave());

const assign = async (code: string, overrides: object = { borrower: BORROWER }) => {
  const backing_documents = [{ type: 'ccb', value: FILE_NAME }];
  const request = loanRequest(api.fund, code, 1, { ...overrides, backing_documents });
  const file = { name: FILE_NAME, content: smallPdf(`DOCUMENT-TEXT of ${code}`) };
  return api.call('POST', '/loan', multipart('loan_data', request, [file]));
};

interface Forgotten {
  readonly code: number;
  readonly answer: {
    readonly operations: readonly Readonly<Record<string, unknown>>[];
    readonly forgotten: number;
    readonly left_open: number;
  };
}

const forget = async (...options: readonly string[]): Promise<Forgotten> => {
  try {
    const out = await service.receivables('borrower', 'forget', '--document', '111.444.777-35', ...options);
    return { code: 0, answer: JSON.parse(out) };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, answer: JSON.parse(stdout || '{}') };
  }
};

/** The first document of an operation, as it is given out. */
const fileOf = async (loan: {
  readonly originator_proposal_code: string;
  readonly documents: readonly { readonly document_id: string }[];
}) => {
  const { originator_proposal_code: code, documents: stored } = loan;
  const response = await fetch(`${service.baseUrl}/loan/${code}/documents/${stored[0]!.document_id}`, {
    headers: { authorization: `Bearer ${await api.token()}` },
  });
  return {
    status: response.status,
    text: Buffer.from(await response.arrayBuffer()).toString('latin1'),
    disposition: response.headers.get('content-disposition'),
  };
};

/** Every file below the data directory, as bytes. */
const everyByte = async (): Promise<Buffer> => {
  const entries = await readdir(service.dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
};

const wrappedKeyOf = (code: string): string | undefined => {
  const database = new DatabaseSync(join(service.dataDir, 'service.db'), { readOnly: true });
  try {
    const row = database
      .prepare('select wrapped from wrapped_key where name like ?')
      .get(`operation:loan-%.${code}`);
    return (row as { wrapped: string } | undefined)?.wrapped;
  } finally {
    database.close();
  }
};

const documents = async (): Promise<number> =>
  (await readdir(join(service.dataDir, 'documents'), { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile(),
  ).length;

describe('receivables borrower forget', () => {
  test('leaves nothing to read, and everything else as it was', async () => {
    for (const code of ['ENDED', 'OPEN']) expect((await assign(code)).status).toBe(201);
    expect((await assign('OTHER', {})).status).toBe(201);
    for (const code of ['ENDED', 'OPEN']) await api.untilStatus(code, 'active');
    expect((await api.settle('ENDED', '001', 950)).status).toBe(200);
    expect((await api.untilStatus('ENDED', 'settled')).body.borrower.name).toBe(BORROWER.name);
    const key = wrappedKeyOf('ENDED')!;
    expect([key.length > 40, await documents()]).toEqual([true, 3]);

    const files = await Promise.all(
      ['ENDED', 'OTHER'].map(async (code) => fileOf((await api.loan(code)).body)),
    );
    for (const [file, code] of [
      [files[0]!, 'ENDED'],
      [files[1]!, 'OTHER'],
    ] as const) {
      expect([file.status, file.text]).toEqual([
        200,
        Buffer.from(smallPdf(`DOCUMENT-TEXT of ${code}`)).toString('latin1'),
      ]);
      expect(file.disposition).toBe(`attachment; filename="${FILE_NAME}"`);
    }

    // Without --yes and without a terminal nothing happens.
    expect(await forget()).toMatchObject({ code: 2, answer: {} });
    expect((await api.loan('ENDED')).body.borrower.name).toBe(BORROWER.name);

    const first = await forget('--yes', '--reason', 'request 2027-118');
    expect(first).toMatchObject({ code: 3, answer: { forgotten: 1, left_open: 1 } });
    expect((await api.loan('ENDED')).body).toMatchObject({
      ...{ status: 'settled', borrower: null },
      documents: [{ type: 'ccb', value: null }],
    });
    expect((await api.loan('OPEN')).body.borrower.name).toBe(BORROWER.name);
    const gone = await fileOf((await api.loan('ENDED')).body);
    expect([gone.status, JSON.parse(gone.text).error_code]).toEqual([404, 'document_not_found']);
    expect((await fileOf((await api.loan('OTHER')).body)).text).toBe(files[1]!.text);

    const second = await forget('--yes', '--including-open');
    expect(second).toMatchObject({ code: 0, answer: { forgotten: 1, left_open: 0 } });
    expect(second.answer.operations).toMatchObject([
      { originator_proposal_code: 'OPEN', outcome: 'forgotten' },
    ]);
    expect(await forget('--yes')).toMatchObject({ code: 0, answer: { operations: [], forgotten: 0 } });

    expect((await api.loan('OPEN')).body).toMatchObject({ status: 'active', borrower: null });
    expect((await api.loan('OTHER')).body).toMatchObject({
      borrower: { name: 'Joana Prado' },
      documents: [{ value: FILE_NAME }],
    });
    expect([wrappedKeyOf('ENDED'), wrappedKeyOf('OPEN'), await documents()]).toEqual([
      undefined,
      undefined,
      1,
    ]);
    const bytes = await everyByte();
    expect(bytes.includes(key)).toBe(false);
    for (const text of PERSONAL) {
      expect([text, bytes.includes(text), service.output.includes(text)]).toEqual([text, false, false]);
    }
  }, 300_000);

  test('money goes on, requests are still known, documents are not taken any more', async () => {
    const replay = await assign('OPEN');
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect((await api.settle('OPEN', '001', 950)).status).toBe(200);
    await api.untilStatus('OPEN', 'settled');
  });

  test('the same person may come back, and be forgotten again', async () => {
    expect((await assign('AGAIN')).status).toBe(201);
    await api.untilStatus('AGAIN', 'active');
    expect((await api.loan('AGAIN')).body.borrower.name).toBe(BORROWER.name);
    expect(await forget('--yes', '--including-open')).toMatchObject({ code: 0, answer: { forgotten: 1 } });
    expect((await api.loan('AGAIN')).body.borrower).toBeNull();
  }, 300_000);

  test('what is no document is refused before anything is opened', async () => {
    const refused = service.receivables('borrower', 'forget', '--document', '123', '--yes');
    await expect(refused).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--document') });
  });
});
