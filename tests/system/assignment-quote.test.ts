import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storyPosition } from '../domain/support/positions.ts';
import type { Position } from '../domain/support/positions.ts';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import type { ApiResponse } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';
import type { ClientCredentials } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

const FUND = randomUUID();
const MEBIBYTE = 1_048_576;
const SEED = 20_260_115;

let service: RunningService;
let api: ApiClient;
beforeAll(async () => {
  service = await RunningService.start();
  api = await service.client(FUND);
});
afterAll(() => service?.stop());

type Files = readonly { readonly name: string; readonly content: Uint8Array }[];
const PDF = { name: 'ccb.pdf', content: smallPdf() };
/** Too large to wait in memory. */
const LARGE = { name: 'ccb.pdf', content: Buffer.concat([smallPdf(), Buffer.alloc(MEBIBYTE, ' ')]) };

const send = (loan: object, files: Files = [PDF], by = api): Promise<ApiResponse> =>
  by.call('POST', '/loan', multipart('loan_data', loan, files));
const quote = (loan: object, files?: Files, by?: ApiClient): Promise<ApiResponse> =>
  send({ ...loan, dry_run: true }, files, by);

const TABLES = "select name from sqlite_schema where type = 'table'";

/** Rows of every table of a database, but for the seals, which are made of what is there on their own time. */
const rowsOf = (path: string): object => {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const names = database
      .prepare(TABLES)
      .all()
      .map(({ name }) => String(name));
    const counted = names
      .filter((name) => !name.startsWith('log_seal'))
      .map((name) => [name, database.prepare(`select count(*) as rows from "${name}"`).get()!['rows']]);
    return Object.fromEntries(counted);
  } finally {
    database.close();
  }
};

/** Every file of a data directory, and how many rows each of its databases has. */
const keptIn = (directory: string) => {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/-(wal|shm)$/.test(path))
    .toSorted();
  const databases = files.filter((path) => path.endsWith('.db'));
  return { files, rows: Object.fromEntries(databases.map((path) => [path, rowsOf(path)])) };
};

const amountOf = (cents: number): number => cents / 100;
const requestOf = (code: string, { acquisitionValue, installments }: Position): object =>
  loanRequest(FUND, code, installments.length, {
    acquisition_value: amountOf(acquisitionValue),
    installments: installments.map((one) => ({
      code: one.code,
      due_date: one.dueDate,
      face_value: amountOf(one.faceValue),
    })),
  });

const cents = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0);

const LOAN = loanRequest(FUND, 'TAKEN', 1, {
  installments: [{ code: '001', due_date: '2099-01-15', face_value: 950 }],
});
const POSITIONS = fc.sample(storyPosition, { numRuns: 8, seed: SEED });

/** Requests that are refused, with or without `dry_run`. */
const REFUSED: readonly (readonly [code: string, changes: object, files: Files])[] = [
  ['fund_not_allowed', { fund_id: randomUUID() }, [PDF]],
  ['validation_error', { number_of_installments: 3 }, [LARGE]],
  ['unknown_field', { acquisition_amount: 5 }, [LARGE]],
  ['invalid_file', {}, [{ name: 'ccb.pdf', content: Buffer.alloc(MEBIBYTE, 'x') }]],
  ['payload_too_large', {}, [{ name: 'ccb.pdf', content: Buffer.alloc(2 * MEBIBYTE, '%PDF-') }]],
  ['unreferenced_file', {}, [PDF, { ...LARGE, name: 'other.pdf' }]],
  ['duplicate_file_name', {}, [PDF, LARGE]],
];

describe('an assignment tried out', () => {
  test('leaves no event, row, key or file, whether it is answered or refused', async () => {
    const { path, remove } = await temporaryDirectory();
    const running = async (work: (own: RunningService) => Promise<void>): Promise<void> => {
      const own = await RunningService.start({ DATA_DIR: path });
      await work(own).finally(() => own.stop());
    };
    let credentials: ClientCredentials | undefined;
    await running(async (own) => {
      credentials = await own.createClient(FUND);
      const client = new ApiClient(own.baseUrl, credentials);
      expect((await send(LOAN, [PDF], client)).status).toBe(201);
      await client.untilStatus('TAKEN', 'active');
    });
    const before = keptIn(path);
    expect(JSON.stringify(before.rows)).toContain('"wrapped_key":');
    await running(async (own) => {
      const client = new ApiClient(own.baseUrl, credentials!);
      const statusOf = async (loan: object, files: Files): Promise<number> =>
        (await quote(loan, files, client)).status;
      for (const [index, position] of POSITIONS.entries())
        expect(await statusOf(requestOf(`NEW-${index}`, position), [[], [PDF], [LARGE]][index % 3]!)).toBe(
          200,
        );
      for (const [code, changes, files] of REFUSED)
        expect([code, await statusOf({ ...LOAN, ...changes }, files)]).not.toEqual([code, 200]);
      expect(await statusOf(LOAN, [LARGE])).toBe(409);
      const uploads = join(path, 'uploads');
      const waiting = (): number =>
        readdirSync(uploads, { recursive: true, withFileTypes: true }).filter(
          (entry) => entry.isFile() && /^[0-9a-f-]{36}$/.test(entry.name),
        ).length;
      // The files of a request go as its answer is sent.
      await within('no upload is left', 5_000, () => waiting() === 0);
    });
    expect(keptIn(path)).toEqual(before);
    await remove();
  }, 60_000);

  test.each(POSITIONS.map((position, index) => [`QUOTED-${index}`, position] as const))(
    'is what the assignment then shows: %s',
    async (code, position) => {
      const request = requestOf(code, position);
      const { status, body } = await quote(request, []);
      expect(status).toBe(200);
      const { lines, ...quoted } = body;
      const values = lines.map((line: { present_value: number }) => line.present_value);
      expect(cents(values)).toBe(position.acquisitionValue);
      expect((await send(request)).status).toBe(201);
      const { body: loan } = await api.untilStatus(code, 'active');
      expect(loan).toMatchObject({
        fund_id: quoted.fund_id,
        acquisition_value: quoted.acquisition_value,
        number_of_installments: quoted.number_of_installments,
      });
      expect(loan.status_history[0].status).toBe(quoted.resulting_status);
      // The same curve on the same day, told by the operation itself.
      const { body: worth } = await api.call('POST', '/loan/repurchase', {
        originator_proposal_code: code,
        reason: 'repurchase',
        effective_date: '2026-01-15',
        idempotency_key: 'tried-out',
        dry_run: true,
      });
      expect(worth).toMatchObject({
        daily_factor: quoted.daily_factor,
        calculated_value: quoted.acquisition_value,
        lines,
      });
    },
  );

  test.each(REFUSED)('is refused in the words of the assignment: %s', async (code, changes, files) => {
    const loan = { ...LOAN, originator_proposal_code: 'REFUSED', ...changes };
    const [tried, sent] = [await quote(loan, files), await send(loan, files)];
    const { request_id: _, ...words } = tried.body;
    expect([words.error_code, tried.status]).toEqual([code, sent.status]);
    expect(sent.body).toMatchObject(words);
  });

  test('is refused where the code is in use, whatever is offered; of another application it says nothing', async () => {
    expect((await send(LOAN)).status).toBe(201);
    for (const changes of [{}, { acquisition_value: 1_000 }]) {
      for (const files of [[], [PDF]]) {
        const { status, body } = await quote({ ...LOAN, ...changes }, files);
        expect([status, body.error_code]).toEqual([409, 'proposal_code_already_used']);
      }
    }
    expect((await quote(LOAN, [], await service.client(FUND))).status).toBe(200);
    // The assignment itself is the replay that it was before.
    const again = await send(LOAN);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  });
});
