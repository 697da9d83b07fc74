import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
let service: ServiceProcess;
let api: ApiClient;

beforeAll(async () => {
  service = await ServiceProcess.start(join(directory, 'data'), {
    ...{ SANDBOX_STEP: '1ms', LOG_LEVEL: 'debug', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
  });
  api = await service.client();
}, 300_000);
afterAll(() => service?.end('SIGTERM'));

/** Every file below the directory, with a backup in it, one character a byte. */
const everyByte = async (): Promise<string> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file)))).toString('latin1');
};

const wrappedKeyOf = (code: string): string | undefined => {
  const database = new DatabaseSync(join(service.dataDir, 'service.db'), { readOnly: true });
  try {
    const key = database.prepare('select wrapped from wrapped_key where name like ?');
    return key.get(`operation:loan-%.${code}`)?.['wrapped'] as string | undefined;
  } finally {
    database.close();
  }
};

/** The first document of an operation, as it is given out. */
const fileOf = async (code: string): Promise<readonly [status: number, text: string]> => {
  const { documents } = (await api.loan(code)).body;
  const headers = { authorization: `Bearer ${await api.token()}` };
  const address = `${service.baseUrl}/loan/${code}/documents/${documents[0].document_id}`;
  const answer = await fetch(address, { headers });
  return [answer.status, Buffer.from(await answer.arrayBuffer()).toString('latin1')];
};

const iracema = {
  document_type: 'CPF',
  ...{ document_number: '39053344705', name: 'Iracema Tupinambá', birth_date: '1979-08-23' },
  ...{ email: 'iracema.t@example.org', phone: '+5584955554444' },
  address: {
    ...{ zip_code: '01310100', street: 'Travessa Ubirajara', number: '7', neighborhood: 'Guarani' },
    ...{ city: 'Sao Paulo', state: 'SP' },
  },
};
const CCB = 'CCB Iracema 390.533.447-05.pdf';
const REMARK = 'Iracema called from +55 84 95555-4444 and asked for it';
const TRACES = [
  ...['39053344705', '390.533.447-05', 'Iracema', 'Tupinamb', '1979-08-23', 'iracema.t@', '5584955554444'],
  ...['95555-4444', 'Ubirajara', 'Guarani', 'asked for it', 'GUARDED-TEXT'],
];
const content = smallPdf('GUARDED-TEXT');
const file = (name: string) => ({ name, content });
const ok = ({ status, body }: ApiResponse): unknown => {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};
const received = (code: string, name: string) =>
  api.call(
    'POST',
    '/loan',
    multipart(
      'loan_data',
      loanRequest(api.fund, code, 1, {
        borrower: iracema,
        backing_documents: [{ type: 'ccb', value: name }],
      }),
      [file(name)],
    ),
  );
const added = (code: string, name: string, type = 'invoice') =>
  api.call(
    'POST',
    '/loan/files',
    multipart('files_data', { originator_proposal_code: code, documents: [{ type, value: name }] }, [
      file(name),
    ]),
  );
const proposal = (code: string) => ({
  ...{ originator_proposal_code: code, number_of_installments: 1, acquisition_value: 900 },
  installments: [{ code: '1', due_date: '2099-08-20', face_value: 950 }],
});
const repurchase = (code: string) => ({
  ...{ originator_proposal_code: code, reason: 'resolution', reason_detail: REMARK },
  ...{ effective_date: '2026-06-20', idempotency_key: `${code}-back` },
});

/** Every way in which a name can come in: accepted, repeated, inherited, refused. */
const live = async (): Promise<void> => {
  ok(await api.call('POST', '/webhook', { url: 'https://127.0.0.1:9/hook', events: ['*'] }));
  for (const code of ['I1', 'I2', 'I3']) ok(await received(code, CCB));
  ok(await api.assign(loanRequest(api.fund, 'OTHER', 1)));
  for (const code of ['I1', 'I2', 'I3']) await api.untilStatus(code, 'active');
  ok(await added('I1', `invoice of ${CCB}`));
  expect((await added('I1', `invoice of ${CCB}`)).headers.get('idempotent-replayed')).toBe('true');
  expect((await added('I1', `invoice of ${CCB}`, 'other')).status).toBe(409);
  expect((await added('I1', `${CCB}.txt\u0001`)).status).toBe(400);
  expect((await received('I1', `second ${CCB}`)).status).toBe(409);
  expect((await added(`nobody`, CCB)).status).toBe(404);
  const inherited = {
    original_proposal_code: 'I2',
    effective_date: '2026-06-20',
    new_proposal: proposal('I4'),
  };
  ok(await api.call('PATCH', '/loan/renegotiate', inherited));
  const debt = { type: 'renegotiation_document', value: `debt ${CCB}` };
  const renegotiation = {
    ...{ original_proposal_codes: ['I3'], effective_date: '2026-06-20' },
    new_loan: { ...proposal('I5'), backing_documents: [debt] },
  };
  const form = multipart('renegotiation_data', renegotiation, [file(debt.value)]);
  ok(await api.call('PATCH', '/loan/renegotiate', form));
  for (const code of ['I4', 'I5']) await api.untilStatus(code, 'active');
  ok(await api.call('POST', '/loan/repurchase', repurchase('I1')));
  ok(await api.call('POST', '/loan/repurchase', { ...repurchase('I5'), dry_run: true }));
  await api.untilStatus('I1', 'resolved');
};
const all = ['I1', 'I2', 'I3', 'I4', 'I5'];
const namesOf = async (): Promise<unknown> =>
  Promise.all(
    all.map(async (code) => (await api.loan(code)).body.documents.map(({ value }: never) => value)),
  );

test('a borrower who went through everything was readable: own, added and inherited documents, and the remark', async () => {
  await live();
  expect(await namesOf()).toEqual([[CCB, `invoice of ${CCB}`], [CCB], [CCB], [CCB], [`debt ${CCB}`]]);
  expect((await api.loan('I1')).body.repurchase.reason_detail).toBe(REMARK);
  expect(await fileOf('I2')).toEqual([200, Buffer.from(content).toString('latin1')]);
  const shown = await service.receivables('audit', 'show', 'I1', '-o', 'table');
  expect([shown.includes(CCB), shown.includes(REMARK)]).toEqual([true, true]);
});

test('and leaves no trace: in no file, no log, no answer and no output of a command', async () => {
  const outputs: string[] = [];
  const run = async (...args: readonly string[]): Promise<void> =>
    void outputs.push(await service.receivables(...args));
  const forget = async (): Promise<object> =>
    JSON.parse(
      await service.receivables(
        ...['borrower', 'forget', '--document', '390.533.447-05'],
        ...['--yes', '--including-open'],
      ),
    ) as object;
  const [keys, others] = [all.map(wrappedKeyOf), await fileOf('OTHER')];
  expect(keys.every((key) => key!.length > 40)).toBe(true);
  expect(await forget()).toMatchObject({ forgotten: 5, left_open: 0 });
  expect(await forget()).toMatchObject({ operations: [], forgotten: 0 });
  expect(all.map(wrappedKeyOf)).toEqual(all.map(() => undefined));
  for (const code of all) {
    const { body } = await api.loan(code);
    expect([body.borrower, body.documents.map(({ value }: never) => value)]).toEqual([
      null,
      body.documents.map(() => null),
    ]);
    outputs.push(JSON.stringify(body));
    await run('audit', 'show', code, '-o', 'table');
    await run('audit', 'show', code, '-o', 'json');
  }
  expect((await api.loan('I1')).body.repurchase).toMatchObject({
    reason: 'resolution',
    reason_detail: null,
  });
  expect(await fileOf('I2')).toEqual([404, expect.stringContaining('document_not_found')]);
  expect([(await api.loan('OTHER')).body.borrower.name, await fileOf('OTHER')]).toEqual([
    'Joana Prado',
    others,
  ]);
  // Money goes on, and the same person may come back, and be forgotten again.
  ok(await api.settle('I4', '1', 950, { settled_at: '2026-06-20' }));
  await api.untilStatus('I4', 'settled');
  ok(await received('I6', CCB));
  expect((await api.untilStatus('I6', 'active')).body.borrower.name).toBe(iracema.name);
  expect(await forget()).toMatchObject({ forgotten: 1 });
  expect((await api.loan('I6')).body.borrower).toBeNull();
  // Requests are still known, and what they said is not.
  for (const replay of [
    await received('I1', CCB),
    await api.call('POST', '/loan/repurchase', repurchase('I1')),
    await added('I1', `invoice of ${CCB}`),
  ]) {
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    outputs.push(JSON.stringify(replay.body));
  }
  // A remark that comes later is not kept, because nothing is left to seal it with.
  ok(await api.call('POST', '/loan/repurchase', repurchase('I5')));
  expect((await api.untilStatus('I5', 'resolved')).body.repurchase.reason_detail).toBeNull();
  await run('projections', 'rebuild');
  await run('audit', 'verify', '-o', 'json');
  expect(JSON.parse(outputs.at(-1)!)).toMatchObject({ differences: 0 });
  await run('events');
  await run('portfolio', '--fund', api.fund, '--as-of', '2026-06-30');
  await run('backup', '--to', join(directory, 'backup'));
  outputs.push(service.output, await everyByte());
  const left = [...TRACES, ...keys].filter((trace) => outputs.some((output) => output.includes(trace!)));
  expect(left).toEqual([]);
});
