import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { vectors } from '../domain/support/finance-vectors.ts';
import { storyPosition } from '../domain/support/positions.ts';
import type { Position } from '../domain/support/positions.ts';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import type { ApiResponse, ClientCredentials } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

let service: RunningService;
let api: ApiClient;
let operations = 0;

beforeAll(async () => {
  service = await RunningService.start();
  api = await service.client();
});
afterAll(() => service?.stop());

const nextCode = (): string => `OP-${++operations}`;
const L1 = vectors.present_value[0]!;
const paidUntilMay = ['001', '002', '003', '004', '005'];

/** An active operation of the first vector on which these installments were paid in full. */
const activeLoan = async (paid: readonly string[] = []): Promise<string> => {
  const code = nextCode();
  const installments = L1.installments.map((one) => ({ ...one, face_value: Number(one.face_value) }));
  const overrides = {
    acquisition_value: Number(L1.acquisition_value),
    date_issued: L1.date_issued,
    number_of_installments: installments.length,
    installments,
  };
  expect((await api.assign(loanRequest(api.fund, code, 1, overrides))).status).toBe(201);
  await api.untilStatus(code, 'active');
  for (const installment of paid) {
    const face = installments.find((one) => one.code === installment)?.face_value ?? 0;
    expect((await api.settle(code, installment, face)).status).toBe(200);
  }
  return code;
};

const prepay = (code: string, value: number, extra: object = {}): Promise<ApiResponse> =>
  api.call('POST', '/installment/prepayment', {
    originator_proposal_code: code,
    prepayment_value: value,
    prepayment_date: '2026-06-20',
    payment_method: 'pix',
    idempotency_key: `${code}-prepayment`,
    ...extra,
  });
const repurchase = (code: string, reason = 'repurchase', extra: object = {}): Promise<ApiResponse> =>
  api.call('POST', '/loan/repurchase', {
    originator_proposal_code: code,
    reason,
    effective_date: '2026-06-20',
    idempotency_key: `${code}-${reason}`,
    ...extra,
  });
const sendFile = (code: string, name: string, text: string, type = 'invoice'): Promise<ApiResponse> => {
  const data = { originator_proposal_code: code, documents: [{ type, value: name }] };
  return api.call('POST', '/loan/files', multipart('files_data', data, [{ name, content: smallPdf(text) }]));
};
const outcome = ({ status, body, headers }: ApiResponse) => [
  status,
  body.error_code ?? null,
  headers.get('idempotent-replayed'),
];

describe('the worked figures, through HTTP', () => {
  test.each([
    ['cession_reversal', vectors.cession_reversal_on_L1, 'reversed'],
    ['resolution', '5250.00', 'resolved'],
    ['integrated_repurchase', '6147.33', 'repurchased'],
  ])('%s: %s, in the end %s', async (reason, value, end) => {
    const code = await activeLoan(paidUntilMay);
    expect((await repurchase(code, reason)).body.repurchase_value.toFixed(2)).toBe(value);
    const { body } = await api.untilStatus(code, end);
    expect(body.repurchase).toMatchObject({ reason, completed_at: expect.any(String) });
    expect(body.repurchase.calculated_value.toFixed(2)).toBe(value);
    expect(outcome(await api.settle(code, '006', 950))).toEqual([422, 'operation_invalid_state', null]);
    const again = await repurchase(code, reason);
    expect([...outcome(again), again.body.status]).toEqual([200, null, 'true', end]);
  });

  test.each(vectors.prepayment_on_L1)('prepayment $name', async (v) => {
    const code = await activeLoan(v.paid_in_full_before);
    const answer = await prepay(code, Number(v.prepayment_value), { prepayment_date: v.prepayment_date });
    expect(answer.body).toMatchObject({
      remaining_balance: Number(v.remaining_balance),
      excess_value: Number(v.excess_value),
    });
    expect([...answer.body.settled_installments].sort()).toEqual([...v.settled_installments].sort());
    const partial = answer.body.partially_paid;
    expect(partial?.installment_code).toBe(v.partial?.installment_code);
    expect(partial?.outstanding_value.toFixed(2)).toBe(v.partial?.outstanding_at_due);
    const { body: loan } = await api.loan(code);
    expect(loan.status).toBe(v.loan_settled ? 'settled' : 'active');
    for (const { code: installment, status, outstanding_value: owed } of loan.installments) {
      if (v.settled_installments.includes(installment)) expect([status, owed]).toEqual(['prepaid', 0]);
      if (installment === v.partial?.installment_code)
        expect(owed.toFixed(2)).toBe(v.partial?.outstanding_at_due);
    }
    const again = await prepay(code, Number(v.prepayment_value), { prepayment_date: v.prepayment_date });
    expect([outcome(again), again.body]).toEqual([[200, null, 'true'], answer.body]);
    const { settled_installments, excess_value } = answer.body;
    const entry = { date: v.prepayment_date, settled_installments, excess_value };
    expect(loan.prepayments).toEqual([{ value: Number(v.prepayment_value), ...entry }]);
  });

  test('what the fund paid, on the day of the registration, and the value of the curve beside a stated one', async () => {
    const code = await activeLoan(paidUntilMay);
    const { body: loan } = await api.loan(code);
    const { at } = loan.status_history.at(-1);
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' }).format(new Date(at));
    expect([loan.disbursement, loan.prepayments]).toEqual([
      { value: Number(L1.acquisition_value), date: day },
      [],
    ]);
    await repurchase(code, 'repurchase', { repurchase_value: 6000, reason_detail: 'agreed' });
    expect((await api.loan(code)).body.repurchase).toMatchObject({
      repurchase_value: 6000,
      calculated_value: 6147.33,
      reason_detail: 'agreed',
    });
  });

  test('a remark that is empty is kept as it is', async () => {
    const code = await activeLoan();
    expect((await repurchase(code, 'repurchase', { reason_detail: '' })).status).toBe(200);
    expect((await api.loan(code)).body.repurchase.reason_detail).toBe('');
  });
});

describe('precedence and idempotency', () => {
  test('key, operation, status, in this order', async () => {
    const code = await activeLoan();
    await prepay(code, 100);
    const used = { idempotency_key: `${code}-prepayment` };
    expect(outcome(await prepay('UNKNOWN', 100, used))).toEqual([409, 'idempotency_conflict', null]);
    expect(outcome(await prepay('UNKNOWN', 100))).toEqual([404, 'loan_not_found', null]);
    expect(
      outcome(await prepay(code, 100, { prepayment_date: '2026-01-14', idempotency_key: 'early' })),
    ).toEqual([400, 'invalid_date', null]);
    await repurchase(code);
    expect(outcome(await repurchase(code, 'resolution'))).toEqual([422, 'operation_invalid_state', null]);
    expect(outcome(await repurchase(code, 'repurchase', { repurchase_value: 1 }))).toEqual([
      409,
      'idempotency_conflict',
      null,
    ]);
    expect(outcome(await prepay(code, 100, { idempotency_key: 'late' }))).toEqual([
      422,
      'operation_invalid_state',
      null,
    ]);
    expect(outcome(await prepay(code, 100))).toEqual([200, null, 'true']);
  });

  test.each([
    ['prepayment', (code: string) => prepay(code, 2_000)],
    ['repurchase', (code: string) => repurchase(code)],
    ['files', (code: string) => sendFile(code, 'a.pdf', 'one')],
  ])('%s, five times at once: one executes, the others replay it', async (_, send) => {
    const code = await activeLoan();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(code)));
    expect(
      answers.map(({ headers }) => headers.get('idempotent-replayed')).filter((r) => r === null),
    ).toHaveLength(1);
    const facts = answers.map(({ status, body }) => JSON.stringify([status, { ...body, status: null }]));
    expect(new Set(facts).size).toBe(1);
  });
});

describe('further documents', () => {
  test('are kept, shown, and replayed by name and content', async () => {
    const code = await activeLoan();
    const sent = await sendFile(code, 'invoice.pdf', 'first');
    const sha256 = createHash('sha256').update(smallPdf('first')).digest('hex');
    expect([sent.status, sent.body.documents[0].sha256]).toEqual([201, sha256]);
    expect((await api.loan(code)).body.documents.at(-1)).toEqual(sent.body.documents[0]);
    expect(outcome(await sendFile(code, 'invoice.pdf', 'first'))).toEqual([201, null, 'true']);
    expect(outcome(await sendFile(code, 'invoice.pdf', 'other'))).toEqual([
      409,
      'idempotency_conflict',
      null,
    ]);
    expect(outcome(await sendFile(code, 's.pdf', 'x', 'renegotiation_signature'))).toEqual([
      422,
      'operation_invalid_state',
      null,
    ]);
    expect(outcome(await sendFile('UNKNOWN', 's.pdf', 'x'))).toEqual([404, 'loan_not_found', null]);
  });
});

describe('overdue', () => {
  test('a past due date shows soon after the operation is active, and is settled late', async () => {
    const code = nextCode();
    const installments = [
      { code: 'A', due_date: '2020-02-15', face_value: 500 },
      { code: 'B', due_date: '2099-02-15', face_value: 9000 },
    ];
    const overrides = { installments, acquisition_value: 5000, date_issued: '2020-01-15' };
    expect((await api.assign(loanRequest(api.fund, code, 2, overrides))).status).toBe(201);
    const statuses = async () =>
      (await api.loan(code)).body.installments.map(({ status }: { status: string | null }) => status);
    await within('what is past due is marked', 60_000, async () => (await statuses())[0] === 'overdue');
    expect(await statuses()).toEqual(['overdue', 'pending']);
    expect((await api.settle(code, 'A', 520)).status).toBe(200);
    expect(await statuses()).toEqual(['settled', 'pending']);
  });
});

describe('before the assignment', () => {
  const FUND = randomUUID();
  const MEBIBYTE = 1_048_576;
  const SEED = 20_260_115;

  let api: ApiClient;
  beforeAll(async () => {
    api = await service.client(FUND);
  });

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
      const path = temporaryDirectory();
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
        await within('no upload is left', 60_000, () => waiting() === 0);
      });
      expect(keptIn(path)).toEqual(before);
    });

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
});
