import { CompiledQuery } from 'kysely';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { fillPortfolio } from './portfolio-at-size.ts';
import { openServingGeneration } from './service-data.ts';

const INSTALLMENTS = 12;
const CHUNK = 20_000;
export const APPLICATION = 'app-1';

const RANGE = 'with recursive n(i) as (select ? union all select i + 1 from n where i + 1 < ?)';
const CODE = `printf('OP-%07d', i)`;
/** Beside those of the portfolio, which begin at 0. */
const ID = '(10000000 + i)';
const STREAM = `'${loanStream(APPLICATION, '')}' || ${CODE}`;

/** Rows of operations `from` to before `to`: a third of them waits, as many for each of the four decisions, and a tenth owes two installments. */
const statementsOf = (fundId: string, today: string) => {
  const status = `case i % 12 when 0 then 'received' when 1 then 'approved' when 2 then 'term_signed' when 3 then 'repurchase_pending'
    else 'active' end`;
  const at = `strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', '+' || i || ' minutes')`;
  const isLate = 'i % 10 = 5 and k <= 2';
  return [
    `insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value, number_of_installments,
       date_issued, daily_factor, borrower, received_at, waiting_since, reason_detail, active_at)
     ${RANGE} select ${ID}, ${STREAM}, '${APPLICATION}', ${CODE}, '${fundId}', ${status}, 'financing', 180000 + i, ${INSTALLMENTS}, '2026-01-01',
       '0.999500000000000000000000000000', 'sealed', ${at}, case when i % 12 < 4 then ${at} end, '',
       case when i % 12 > 2 then ${at} end from n`,
    `insert into progress ${RANGE} select ${ID}, '${APPLICATION}', ${CODE}, ${at}, ${at}, 4, 0 from n`,
    `insert into installment ${RANGE}, m(k) as (select 1 union all select k + 1 from m where k < ${INSTALLMENTS})
     select ${ID}, printf('%03d', k), k,
       case when ${isLate} then date('${today}', '-' || (i % 300 + 3 - k) || ' days')
         else date('${today}', '+' || ((i * 7 + k * 31) % 365) || ' days') end,
       95000, case when ${isLate} then 'overdue' else 'pending' end, null, null, null, null from n, m`,
    `insert into status_history ${RANGE}, m(k) as (select 0 union all select k + 1 from m where k < 3)
     select ${ID}, k, case when k = 3 then ${status} else 'earlier' end, ${at} from n, m`,
    `insert into payment (fund_id, position, operation, revision, installments, event_id, kind, reason, installment_code, date, amount, owed_value, underpaid_value,
       excess_value, shortfall_value, received_before, recorded_at)
     ${RANGE} select '${fundId}', ${ID}, ${ID}, 5, 1, ${CODE}, 'settlement', null, '001', date('${today}', '-' || (i % 30) || ' days'), 95000, 95000, 0, 0, 0, 0,
       ${at} from n`,
  ];
};

const fill = async (
  database: SqlDatabase,
  { fundId, today, operations }: { fundId: string; today: string; operations: number },
): Promise<void> => {
  for (let from = 0; from < operations; from += CHUNK) {
    const to = Math.min(from + CHUNK, operations);
    const queries = statementsOf(fundId, today).map((text) => CompiledQuery.raw(text, [from, to]));
    await database.transaction(queries.map((query) => ({ query })));
  }
};

/** Read models of one fund with so many operations of twelve installments, as every page of the console reads them. */
export const fillForConsole = async (
  dataDir: string,
  filling: { readonly fundId: string; readonly today: string; readonly operations: number },
): Promise<void> => {
  await fillPortfolio(dataDir, filling.fundId, filling.operations);
  const database = await openServingGeneration(dataDir);
  try {
    await fill(database, filling);
  } finally {
    await database.close();
  }
};

/** Two operations in three become those of these funds, with their payments. */
export const shareAmongFunds = async (
  dataDir: string,
  [one, other]: readonly [string, string],
): Promise<void> => {
  const database = await openServingGeneration(dataDir);
  const shared = (table: string, id: string): string =>
    `update ${table} set fund_id = case ${id} % 3 when 1 then ? else ? end where ${id} % 3 > 0`;
  try {
    for (const text of [shared('loan', 'id'), shared('payment', 'operation')])
      await database.transaction([{ query: CompiledQuery.raw(text, [one, other]) }]);
  } finally {
    await database.close();
  }
};
