import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { AskedAssignment } from '../../../../application/loans/assign-loan.ts';
import { contentOf } from '../../../../infrastructure/documents/file-document-inspector.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData } from '../../../support/http-requests.ts';
import type { FilePart } from '../../../support/http-requests.ts';
import { mainThreadCost, MOST_MS } from '../../../support/main-thread-cost.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const UNDER_LIMIT = 2 * 1_048_576 - 1;

let received: AskedAssignment | undefined;
let contents: Buffer[] = [];

const world = await HttpWorld.start();
const accept = world.behaviour.loans.assign;
world.behaviour.loans.assign = async (context, input) => {
  received = input;
  contents = await Promise.all(input.files.map((file) => contentOf(file)));
  return accept(context, input);
};
afterAll(() => world.stop());
afterEach(async () => {
  await untilNoUploads();
  world.now += 60_000;
});

/** The response may arrive a moment before the files are gone. */
const untilNoUploads = async (): Promise<void> => {
  const end = Date.now() + 60_000;
  while ((await world.uploadedFiles()).length > 0) {
    if (Date.now() > end) throw new Error(`files left behind: ${(await world.uploadedFiles()).join(', ')}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

const dataFor = (...names: string[]) => ({
  ...validLoanData(),
  backing_documents: names.map((value) => ({ type: 'ccb', value })),
});
const send = (data: unknown, files?: readonly FilePart[]) =>
  world.call('POST', '/loan', { body: loanForm(data, files) });

const raw = (parts: readonly (readonly [disposition: string, content: string])[], end = '--b--\r\n') =>
  parts
    .map(
      ([disposition, content]) =>
        `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`,
    )
    .join('') + end;
const sendRaw = (body: string | Buffer, type = 'multipart/form-data; boundary=b') =>
  world.call('POST', '/loan', { body, headers: { 'content-type': type } });

describe('files reach the use case', () => {
  test('with their content on disk, size and SHA-256, and are gone afterwards', async () => {
    const content = Buffer.alloc(300_000, 'x');
    const { status } = await send(dataFor('ccb.pdf', 'b.pdf'), [
      { name: 'ccb.pdf', content },
      { name: 'b.pdf', content: '' },
    ]);
    expect(status).toBe(201);
    expect(received?.files.map(({ name, size, sha256 }) => [name, size, sha256])).toEqual([
      ['ccb.pdf', 300_000, createHash('sha256').update(content).digest('hex')],
      ['b.pdf', 0, createHash('sha256').digest('hex')],
    ]);
    expect(contents[0]?.equals(content)).toBe(true);
  });

  test.each([
    'cédula de crédito nº 1.pdf',
    '債権.pdf',
    'a "quoted" name.pdf',
    ' spaces .pdf',
    '50%25.pdf',
    '..pdf',
  ])('under the name %s, untouched', async (name) => {
    expect((await send(dataFor(name), [{ name }])).status).toBe(201);
    expect(received?.files[0]?.name).toBe(name);
  });

  test('under a name in the extended notation', async () => {
    const name = 'cédula.pdf';
    const { status } = await sendRaw(
      raw([
        ['name="loan_data"', JSON.stringify(dataFor(name))],
        [`name="files"; filename="cedula.pdf"; filename*=UTF-8''c%C3%A9dula.pdf`, '%PDF'],
      ]),
    );
    expect([status, received?.files[0]?.name]).toEqual([201, name]);
  });

  test('when the JSON part comes as a file, or after the files', async () => {
    const form = new FormData();
    form.append('files', new Blob(['%PDF']), 'ccb.pdf');
    form.append('loan_data', new Blob([JSON.stringify(validLoanData())], { type: 'application/json' }));
    expect((await world.call('POST', '/loan', { body: form })).status).toBe(201);
  });

  test('even after a refusal of the use case nothing stays', async () => {
    const accept = world.behaviour.loans.assign;
    world.behaviour.loans.assign = async () => Promise.reject(new Error('boom'));
    expect((await send(validLoanData())).status).toBe(500);
    world.behaviour.loans.assign = accept;
  });
});

describe('files and documents name each other', () => {
  test.each([
    ['no file', dataFor('ccb.pdf'), [], 'missing_file', 1],
    [
      'a file too many',
      dataFor('ccb.pdf'),
      [{ name: 'ccb.pdf' }, { name: 'extra.pdf' }],
      'unreferenced_file',
      1,
    ],
    ['another case', dataFor('ccb.pdf'), [{ name: 'CCB.pdf' }], 'missing_file', 2],
    ['a path in front', dataFor('ccb.pdf'), [{ name: 'dir/ccb.pdf' }], 'missing_file', 2],
    [
      'a name twice',
      dataFor('ccb.pdf'),
      [{ name: 'ccb.pdf' }, { name: 'ccb.pdf' }],
      'duplicate_file_name',
      1,
    ],
    [
      'everything at once',
      dataFor('a', 'b'),
      [{ name: 'a' }, { name: 'a' }, { name: 'c' }],
      'duplicate_file_name',
      3,
    ],
  ] as const)('%s', async (...[, data, files, code, mismatches]) => {
    const { status, body } = await send(data, files);
    expect([status, body.error_code, body.details.length]).toEqual([400, code, mismatches]);
  });
});

/** A form of so many files of so many mebibytes. */
const filesOf = function* (files: number, mebibytes: number): Generator<Buffer> {
  for (let file = 0; file < files; file++) {
    yield Buffer.from(`\r\n--b\r\nContent-Disposition: form-data; name="files"; filename="${file}"\r\n\r\n`);
    for (let i = 0; i < mebibytes; i++) yield Buffer.alloc(1_048_576);
  }
};

describe('limits', () => {
  let production: HttpWorld;
  beforeAll(async () => {
    production = await HttpWorld.start({ settings: { environment: 'production' } });
  });
  afterAll(() => production.stop());

  test('a file just under the limit passes, one byte more does not', async () => {
    expect(
      (await send(validLoanData(), [{ name: 'ccb.pdf', content: Buffer.alloc(UNDER_LIMIT) }])).status,
    ).toBe(201);
    const { status, body } = await send(validLoanData(), [
      { name: 'ccb.pdf', content: Buffer.alloc(UNDER_LIMIT + 1) },
    ]);
    expect([status, body.error_code]).toEqual([413, 'payload_too_large']);
  });

  test('20 files pass, 21 do not', async () => {
    const names = Array.from({ length: 21 }, (_, i) => `${i}.pdf`);
    const files = names.map((name) => ({ name }));
    expect((await send(dataFor(...names.slice(1)), files.slice(1))).status).toBe(201);
    const { status, body } = await send(dataFor(...names.slice(1)), files);
    expect([status, body.error_code]).toEqual([413, 'payload_too_large']);
  });

  test('the JSON part holds at most 256 KiB, as a field and as a file', async () => {
    const spare = 262_144 - JSON.stringify({ ...validLoanData(), note: '' }).length;
    expect((await send({ ...validLoanData(), note: 'x'.repeat(spare) })).status).toBe(201);
    const data = JSON.stringify({ ...validLoanData(), note: 'x'.repeat(spare + 1) });
    expect((await send(data)).status).toBe(413);
    const form = new FormData();
    form.append('loan_data', new Blob([data]), 'data.json');
    expect((await world.call('POST', '/loan', { body: form })).status).toBe(413);
  });

  test('at most a mebibyte around and between the parts is read', async () => {
    const preamble = Buffer.alloc(1_048_577, 'x');
    const { status, body } = await sendRaw(Buffer.concat([preamble, Buffer.from('\r\n--b--\r\n')]));
    expect([status, body.error_code]).toEqual([413, 'payload_too_large']);
  });

  test('more parts than a form can have are refused before they cost anything', async () => {
    for (const parts of ['\r\n--b', `${raw([['name="files"; filename="x"', '']], '')}`]) {
      const { status, body } = await sendRaw(Buffer.alloc(900_000, parts));
      expect([status, body.error_code]).toEqual([413, 'payload_too_large']);
      const cost = await mainThreadCost(async () => {
        await sendRaw(Buffer.alloc(900_000, parts));
      });
      expect(cost < MOST_MS || cost).toBe(true);
    }
  });

  test('a declared length above 50 MiB is refused before the body is read', async () => {
    const upload = request(`${world.baseUrl}/loan`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenFor('client-a')}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': 50 * 1_048_576 + 1,
      },
    });
    upload.on('error', () => undefined);
    upload.flushHeaders();
    const [response] = await once(upload, 'response');
    expect(response.statusCode).toBe(413);
    upload.destroy();
  });

  test('a stream without a declared length is cut off after 50 MiB', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const body = ReadableStream.from(filesOf(6, 9));
    const { status, body: refusal } = await production.call('POST', '/loan', { body, headers });
    expect([status, refusal.message]).toEqual([413, 'the request may hold at most 52428800 bytes']);
  });

  test('production takes 10 MiB a file', async () => {
    const sized = (size: number) =>
      production.call('POST', '/loan', {
        body: loanForm(validLoanData(), [{ name: 'ccb.pdf', content: Buffer.alloc(size) }]),
      });
    expect((await sized(10 * 1_048_576)).status).toBe(201);
    expect((await sized(10 * 1_048_576 + 1)).status).toBe(413);
  });
});

describe('forms that cannot be read', () => {
  const data = ['name="loan_data"', JSON.stringify(validLoanData())] as const;
  const file = ['name="files"; filename="ccb.pdf"', '%PDF'] as const;

  test.each([
    ['no end', raw([data, file], '')],
    ['cut inside of a file', raw([data, file], '').slice(0, -4)],
    ['no parts', '--b--\r\n'],
    ['empty', ''],
    ['another boundary', raw([data, file]).replaceAll('--b', '--c')],
    ['broken part header', '--b\r\nContent-Disposition form-data\r\n\r\nx\r\n--b--\r\n'],
    ['no JSON part', raw([file])],
    ['two JSON parts', raw([data, data, file])],
    ['broken JSON', raw([['name="loan_data"', '{"a":'], file])],
    ['a file under another part name', raw([data, ['name="file"; filename="ccb.pdf"', '%PDF']])],
    ['a part without a name', raw([data, ['filename="ccb.pdf"', '%PDF']])],
    ['a text part that nobody asked for', raw([data, ['name="comment"', 'x'], file])],
    ['a file without a name', raw([data, ['name="files"', '%PDF']])],
    ['a JSON part that is not UTF-8', Buffer.from(raw([['name="loan_data"', '{"a":"\xe9"}']]), 'latin1')],
    ['a JSON part with what stands for bytes that are not UTF-8', raw([['name="loan_data"', '"\uFFFD"']])],
    [
      'a part that does not say what it is',
      raw([data, file], '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n'),
    ],
    ['an attachment', raw([data, file], '--b\r\nContent-Disposition: attachment\r\n\r\nx\r\n--b--\r\n')],
    ['a part behind the end', raw([data, file]) + raw([file])],
    ['a file whose name cannot be read', raw([data, ['name="files"; filename*=x-y\'\'a', '%PDF'], file])],
    ['nested part names', raw([data, ['name="loan_data[x]"', '1'], file])],
  ])('%s', async (_what, body) => {
    const answer = await sendRaw(body);
    expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_request']);
  });

  const octets =
    '--b\r\nContent-Disposition: form-data; name="loan_data"\r\nContent-Type: application/octet-stream';
  test.each([
    [
      'a field in which no file was chosen',
      raw([data, ['name="files"; filename=""', '']]),
      'a part named files has no file name',
    ],
    [
      'such a field before the data',
      raw([['name="files"; filename=""', ''], data]),
      'a part named files has no file name',
    ],
    [
      'data without a name as bytes',
      `${octets}\r\n\r\n{}\r\n${raw([file])}`,
      'is application/octet-stream without a file name',
    ],
  ])('%s is named', async (_what, body, message) => {
    expect((await sendRaw(body)).body.message).toContain(message);
  });

  test.each(['multipart/form-data; boundary=b;', 'multipart/form-data;; boundary="b" ; '])(
    'but %s is read',
    async (type) => {
      expect((await sendRaw(raw([data, file]), type)).status).toBe(201);
    },
  );

  test('no boundary at all', async () => {
    const { status, body } = await sendRaw(raw([data, file]), 'multipart/form-data');
    expect([status, body.error_code]).toEqual([400, 'invalid_request']);
    expect(body.message).toContain('Content-Type names no boundary');
  });

  test('JSON instead of a form', async () => {
    expect((await world.call('POST', '/loan', { json: validLoanData() })).status).toBe(415);
  });
});

/** The beginning of an upload of which something lies on disk. */
const begun = async (at: HttpWorld): Promise<ClientRequest> => {
  const upload = request(`${at.baseUrl}/loan`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokenFor('client-a')}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
  });
  upload.on('error', () => undefined);
  upload.write(
    raw(
      [['name="loan_data"', '{}']],
      '--b\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n',
    ),
  );
  upload.write(Buffer.alloc(500_000));
  const end = Date.now() + 60_000;
  while ((await at.uploadedFiles()).length === 0) {
    if (Date.now() > end) throw new Error('the upload never started');
    await new Promise((resolve) => setImmediate(resolve));
  }
  return upload;
};

describe('an upload that its client gives up', () => {
  test('leaves no file and reaches no use case', async () => {
    received = undefined;
    (await begun(world)).destroy();
    await untilNoUploads();
    expect(received).toBeUndefined();
  });
});

describe('an upload that has not come whole when the service stops', () => {
  test('is answered that nothing was done, and is not cut off', async () => {
    const stopping = await HttpWorld.start();
    const upload = await begun(stopping);
    const answered = once(upload, 'response');
    const closed = stopping.http.close(2_000);
    stopping.area.endWaiting();
    const [response] = (await answered) as [IncomingMessage];
    const body = JSON.parse((await response.toArray()).join('')) as object;
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5']);
    expect(body).toMatchObject({ error_code: 'service_unavailable', retryable: true });
    upload.destroy();
    await closed;
    await stopping.stop();
  });
});
