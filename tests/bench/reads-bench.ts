/**
 * Reads over a portfolio of a million operations: rows are written straight into the read model, some hundred operations beside them
 * come in through the interface, and all reads go through HTTP to a service of its own process.
 * `node tests/bench/reads-bench.ts [operations] [installments each]`
 */
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { loanStream } from '../../application/command-handling/operation.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { encodeCursor } from '../../application/loans/loan-page.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const operations = Number(process.argv[2] ?? 1_000_000);
const installments = Number(process.argv[3] ?? 4);
const CHUNK = 20_000;
const REAL = 300;
const READS = 3_000;
const PAGES = 1_000;
const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
const EPOCH = Date.UTC(2025, 0, 1);

const codeOf = (i: number): string => `SEED-${String(i).padStart(8, '0')}`;
/** One every thirty seconds; SQLite computes the same text below. */
const receivedAtOf = (i: number): string => new Date(EPOCH + i * 30_000).toISOString();

const RECEIVED_AT = `strftime('%Y-%m-%dT%H:%M:%fZ', ${EPOCH / 1000} + i * 30, 'unixepoch')`;
const CODE = `printf('SEED-%08d', i)`;
const RANGE = 'with recursive n(i) as (select ? union all select i + 1 from n where i + 1 < ?)';

const LOAN_COLUMNS =
  'id, stream, application_id, code, fund_id, status, product_type, acquisition_value, number_of_installments, date_issued, ' +
  'daily_factor, borrower, received_at, reason_detail';

const statementsOf = (prefix: string, applicationId: string, from: number, to: number) => {
  const stream = `'${prefix}' || ${CODE}`;
  // Beyond the places of the log.
  const id = '(1000000000 + i)';
  const sql = [
    `insert into loan (${LOAN_COLUMNS}) ${RANGE} select ${id}, ${stream}, '${applicationId}', ${CODE}, '${FUND}',
      case i % 10 when 0 then 'settled' when 1 then 'repurchased' else 'active' end, 'financing', 180000, ${installments}, '2025-01-01',
      '0.999500000000000000000000000000', 'sealed', ${RECEIVED_AT}, '' from n`,
    `insert into progress ${RANGE} select ${id}, '${applicationId}', ${CODE}, ${RECEIVED_AT}, ${RECEIVED_AT}, 4, 0 from n`,
    `insert into installment ${RANGE}, m(k) as (select 1 union all select k + 1 from m where k < ${installments})
      select ${id}, printf('%03d', k), k, printf('2027-%02d-15', 1 + k % 12), 95000, 'pending', null, null, null, null from n, m`,
    `insert into document ${RANGE} select ${id}, 'd-' || i, 0, 0, 'ccb', '"ccb.pdf"', '${'a'.repeat(64)}', 48000, ${RECEIVED_AT} from n`,
    `insert into status_history ${RANGE}, m(k) as (select 0 union all select k + 1 from m where k < 3)
      select ${id}, k, 'active', ${RECEIVED_AT} from n, m`,
  ];
  return sql.map((text) => ({ query: CompiledQuery.raw(text, [from, to]) }));
};

const seed = async (database: SqlDatabase, applicationId: string): Promise<void> => {
  const prefix = loanStream(applicationId, codeOf(0)).slice(0, -codeOf(0).length);
  for (let from = 0; from < operations; from += CHUNK) {
    await database.transaction(statementsOf(prefix, applicationId, from, Math.min(from + CHUNK, operations)));
  }
};

const measure = async (name: string, count: number, run: (i: number) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < 50; i += 1) await run(i);
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const started = performance.now();
    await run(i);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  process.stdout.write(
    `${name.padEnd(52)} median ${at(0.5)} ms   p95 ${at(0.95)} ms   p99 ${at(0.99)} ms   (${count})\n`,
  );
};

const random = (): number => Math.floor(Math.random() * operations);

const measureAll = async (api: ApiClient, database: SqlDatabase, applicationId: string): Promise<void> => {
  const reader = new SqlLoanReader(database);
  const placeOf = (i: number): string => encodeCursor({ receivedAt: receivedAtOf(i), code: codeOf(i) });
  const expectPage = async (query: string): Promise<void> => {
    const { status, body } = await api.call('GET', `/loan?${query}`);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  };
  await measure('GET /loan/{code} through HTTP', READS, async (i) => {
    const { status } = await api.loan(`REAL-${i % REAL}`);
    if (status !== 200) throw new Error(`status ${status}`);
  });
  await measure('an operation from the read model alone', READS, async () => {
    const view = await reader.find(applicationId, codeOf(random()));
    if (view?.installments.length !== installments) throw new Error('the operation is not whole');
  });
  await measure('GET /loan, first page of 50', PAGES, () => expectPage('limit=50'));
  await measure('GET /loan, 50 from anywhere', PAGES, () =>
    expectPage(`limit=50&cursor=${placeOf(random())}`),
  );
  await measure('GET /loan, 50 of a fund in a status, from anywhere', PAGES, () =>
    expectPage(`limit=50&fund_id=${FUND}&status=repurchased&cursor=${placeOf(random())}`),
  );
  const changedSince = (share: number): string =>
    `limit=200&updated_since=${receivedAtOf(Math.floor(operations * share))}`;
  await measure('GET /loan, 200 of the last 0.5 % that changed', 100, () => expectPage(changedSince(0.995)));
  await measure('GET /loan, 200 of the last 10 % that changed', 20, () => expectPage(changedSince(0.9)));
  await measure('GET /loan, 200 of the last 90 % that changed', 20, () => expectPage(changedSince(0.1)));
  await measure('GET /loan, page of 200 from anywhere', PAGES, () =>
    expectPage(`limit=200&cursor=${placeOf(random())}`),
  );
};

const directory = await temporaryDirectory();
const service = await ServiceProcess.start(directory.path, { SANDBOX_STEP: '0ms' });
const database = await SqliteDatabase.open({
  path: join(directory.path, 'read-model-1.db'),
  synchronous: 'NORMAL',
  logger: new RecordingLogger(),
});
try {
  const credentials = await service.createClient(FUND);
  const api = new ApiClient(service.baseUrl, credentials);
  for (let i = 0; i < REAL; i += 1) await api.assign(loanRequest(FUND, `REAL-${i}`));
  const started = performance.now();
  await seed(database, credentials.application_id);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stdout.write(`${operations} operations with ${installments} installments seeded in ${seconds} s\n`);
  await measureAll(api, database, credentials.application_id);
} finally {
  await database.close();
  await service.end('SIGTERM');
  await directory.remove();
}
