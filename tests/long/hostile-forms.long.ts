import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { Neighbour } from '../support/neighbour.ts';
import { Renegotiator } from '../support/renegotiator.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

/** Parts of a form as they go over the wire; an end is a part of its own, because it may never be sent. */
const filePart = (name: string, content = '%PDF-1.4\n'): string =>
  `--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n${content}\r\n`;
const textPart = (name: string, text: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
const FORM_END = '--b--\r\n';

interface FormSender {
  readonly outgoing: ClientRequest;
  /** Status and headers of the answer, or the failure of the connection. */
  readonly answered: Promise<{ readonly status: number; readonly retryAfter?: string | undefined } | Error>;
}

/** Begins to send a form on a connection of its own; the caller ends it, or leaves it as it is. */
const beginForm = (
  target: { readonly url: string; readonly method?: string; readonly token: string },
  start: string | Buffer,
): FormSender => {
  const headers = {
    authorization: `Bearer ${target.token}`,
    'content-type': 'multipart/form-data; boundary=b',
  };
  const outgoing = request(target.url, { method: target.method ?? 'POST', agent: false, headers });
  const answered = new Promise<{ status: number; retryAfter?: string | undefined } | Error>((resolve) => {
    outgoing.on('error', resolve).on('response', (response) => {
      response.on('error', () => undefined).resume();
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
    });
  });
  outgoing.write(start);
  return { outgoing, answered };
};

const MEBIBYTE = 1_048_576;
const FORGOTTEN = '11144477735';
const borrowerWith = (document_number: string) => ({
  borrower: { ...(loanRequest('', '') as { borrower: object }).borrower, document_number },
});

let service: ServiceProcess;
let api: ApiClient;
let client: Renegotiator;
let neighbour: Neighbour;

beforeAll(async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1ms' });
  api = await service.client();
  client = new Renegotiator(api);
  await client.activate('A');
  await api.assign(loanRequest(api.fund, 'B', 3, borrowerWith('39053344705')));
  await api.assign(loanRequest(api.fund, 'F', 3, borrowerWith(FORGOTTEN)));
  for (const code of ['B', 'F']) await api.untilStatus(code, 'active');
  await service.receivables('borrower', 'forget', '--document', FORGOTTEN, '--including-open', '--yes');
  // A running process may know the key for a little longer.
  await service.end('SIGTERM');
  await service.start();
  neighbour = await Neighbour.of(service);
}, 300_000);
afterAll(async () => {
  await neighbour?.leave();
  await service?.end('SIGKILL');
});

const form = (part: string, data: object, name: string, content: Uint8Array = smallPdf()): FormData =>
  multipart(part, data, [{ name, content }]);
const loan = (changes: object, name = 'ccb.pdf', content?: Uint8Array): Promise<ApiResponse> =>
  api.call('POST', '/loan', form('loan_data', loanRequest(api.fund, 'L', 3, changes), name, content));
const files = (code: string, type: string, content?: Uint8Array): Promise<ApiResponse> => {
  const data = { originator_proposal_code: code, documents: [{ type, value: 'more.pdf' }] };
  return api.call('POST', '/loan/files', form('files_data', data, 'more.pdf', content));
};
const big = (): Uint8Array => Buffer.alloc(2 * MEBIBYTE, '%PDF-');
const notPdf = Buffer.from('neither of them');

/** Every refusal that a form may meet after its files have come, and what it answers. */
const refusals: Readonly<Record<string, readonly [number, () => Promise<ApiResponse>]>> = {
  'originals of two borrowers': [400, () => client.replaceAll(['A', 'B'], 'N')],
  'an original whose borrower is forgotten': [422, () => client.replaceAll(['F'], 'N')],
  'an original that does not exist': [404, () => client.replaceAll(['A', 'nowhere'], 'N')],
  'a new code that is used': [409, () => client.replaceAll(['A'], 'F')],
  'a new code that is an original': [400, () => client.replaceAll(['A'], 'A')],
  'another fund': [403, () => loan({ fund_id: randomUUID() })],
  'a code that is used': [409, () => loan({ originator_proposal_code: 'A', product_type: 'other' })],
  'a file of another name': [400, () => loan({}, 'other.pdf')],
  'a file that is too large': [413, () => loan({}, 'ccb.pdf', big())],
  'a file that is no PDF': [400, () => loan({}, 'ccb.pdf', notPdf)],
  'a loan without installments': [400, () => loan({ installments: [] })],
  'files of an operation that does not exist': [404, () => files('nowhere', 'ccb')],
  'a signature without a renegotiation': [422, () => files('A', 'renegotiation_signature')],
  'further files that are no PDF': [400, () => files('A', 'ccb', notPdf)],
  'a further file that is too large': [413, () => files('A', 'ccb', big())],
};

const uploads = async (): Promise<readonly string[]> => {
  const root = join(service.dataDir, 'uploads');
  const folders = await readdir(root);
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder))).map((name) => join(root, folder, name)),
    ),
  );
  return names.flat().filter((path) => !path.endsWith('owner'));
};
const begin = async (path: string, start: string | Buffer, method = 'POST'): Promise<FormSender> =>
  beginForm({ url: service.baseUrl + path, method, token: await api.token() }, start);
/** More than waits in memory of one request. */
const ON_DISK = `%PDF-1.4\n${'x'.repeat(100_000)}`;
const unfinished = (): Promise<FormSender> =>
  begin('/loan', textPart('loan_data', 'x'.repeat(200_000)) + filePart('ccb.pdf', ON_DISK).slice(0, -2));

describe('forms that are refused', () => {
  test('many of every kind at once end neither the process nor the answers to others', async () => {
    const seen = new Map<string, Set<number>>();
    const send = async (name: string, call: () => Promise<ApiResponse>): Promise<void> => {
      const { status } = await call();
      seen.set(name, (seen.get(name) ?? new Set()).add(status));
    };
    const attack = async (): Promise<void> => {
      const all = Object.entries(refusals).flatMap(([name, [, call]]) =>
        Array.from({ length: 4 }, () => send(name, call)),
      );
      const aborted = ['/loan', '/loan/files', '/loan/renegotiate'].map(async (path) => {
        const method = path === '/loan/renegotiate' ? 'PATCH' : 'POST';
        const { outgoing, answered } = await begin(path, filePart('a').slice(0, -9), method);
        setTimeout(() => outgoing.destroy(), 20);
        await answered;
      });
      await Promise.all([...all, ...aborted]);
    };
    await neighbour.livesThrough(attack);
    const expected = Object.entries(refusals).map(([name, [status]]) => [name, [status]]);
    expect([...seen].map(([name, statuses]) => [name, [...statuses]]).sort()).toEqual(expected.sort());
    await within('no upload is left', 60_000, async () => (await uploads()).length === 0);
  }, 300_000);

  test('a part that nobody asked for is refused before the form has come to its end', async () => {
    for (const start of [
      textPart('comment', 'it goes on').slice(0, -3),
      filePart('a.pdf').replace('name="files"', 'name="file"').slice(0, -3),
      textPart('loan_data', '{}') + textPart('loan_data', '{"and so on').slice(0, -3),
    ]) {
      const { outgoing, answered } = await begin('/loan', start);
      expect(await answered).toMatchObject({ status: 400 });
      outgoing.destroy();
    }
  });
});

describe('forms that never end', () => {
  test('sixty of one application cost little memory, and nobody else waits', async () => {
    const before = service.residentMiB;
    const senders: FormSender[] = [];
    let after = 0;
    await neighbour.livesThrough(async () => {
      for (let i = 0; i < 60; i++) senders.push(await unfinished());
      await within('all of them are on disk', 60_000, async () => (await uploads()).length === 60);
      const preamble = Buffer.alloc(MEBIBYTE / 2, 'x');
      for (const { outgoing } of senders) outgoing.write(preamble);
      await new Promise((resolve) => setTimeout(resolve, 300));
      after = service.residentMiB;
    });
    for (const path of await uploads()) expect((await readFile(path)).includes('%PDF')).toBe(false);
    for (const { outgoing } of senders) outgoing.destroy();
    expect(after - before).toBeLessThan(200);
    await within('their files are gone', 60_000, async () => (await uploads()).length === 0);
  }, 300_000);

  test('what is above 64 waits until a place is free; others need not', async () => {
    const senders = await Promise.all(Array.from({ length: 64 }, unfinished));
    await within('all of them are on disk', 60_000, async () => (await uploads()).length === 64);
    const next = await begin('/loan', textPart('loan_data', '{}') + FORM_END);
    next.outgoing.end();
    const other = await service.client();
    expect((await other.assign(loanRequest(other.fund, 'O'))).status).toBe(201);
    const waiting = new Promise((resolve) => setTimeout(resolve, 100, 'waits'));
    expect(await Promise.race([next.answered, waiting])).toBe('waits');
    senders[0]!.outgoing.destroy();
    expect(await next.answered).toMatchObject({ status: 400 });
    for (const { outgoing } of senders) outgoing.destroy();
  }, 300_000);
});
