import type { ProjectionStore } from '../../application/projecting/projection-store.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { operationColumn } from '../../application/sql/read-model-tables.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { Projection, Row, TableWrite } from '../../projections/projection.ts';
import { query, raw } from './sql/temporary-database.ts';

const LOAN = {
  ...{ application_id: '', code: '', fund_id: '', status: '', product_type: '', acquisition_value: 0 },
  ...{ number_of_installments: 0, date_issued: '', daily_factor: '', borrower: '', received_at: '' },
  reason_detail: '',
};

const streamsIn = (writes: readonly TableWrite[]): readonly string[] =>
  writes.flatMap((write) =>
    write.op === 'insert' && write.table !== 'loan' ? write.rows.map(({ stream }) => String(stream)) : [],
  );

/** For tests of rows alone: the operation of every row that is inserted is there, whatever else is. */
export const storeOfKnown = (database: SqlDatabase): ProjectionStore => {
  const store = new SqlProjectionStore(database);
  const literal = (value: string | number): string =>
    typeof value === 'number' ? String(value) : `'${value}'`;
  const bringIn = (stream: string) =>
    raw(`insert into loan (id, stream, ${Object.keys(LOAN).join()})
      select coalesce(max(id), 0) + 1, ${literal(stream)}, ${Object.values(LOAN).map(literal).join()} from loan where true
      on conflict (stream) do nothing`);
  return {
    checkpoint: (...parameters) => store.checkpoint(...parameters),
    quarantined: (...parameters) => store.quarantined(...parameters),
    apply: async (projection, writes, ...places) => {
      const streams = new Set(streamsIn(writes));
      if (streams.size > 0) await database.transaction([...streams].map(bringIn));
      return store.apply(projection, writes, ...places);
    },
  };
};

/** As a new generation has it. */
export const emptied = async (database: SqlDatabase, { name, tables }: Projection): Promise<void> => {
  const own = `delete from projection_checkpoint where name = '${name}'`;
  await database.transaction(
    [own, ...tables.map((table) => `delete from ${table}`)].map((text) => raw(text)),
  );
};

/** The rows of a table as projections write them, with the streams of their operations. */
export const rowsByStream = async (database: SqlDatabase, table: string): Promise<readonly Row[]> => {
  if (operationColumn(table) !== 'operation') return database.read(query<Row>(`select * from ${table}`));
  const rows = await database.read(
    query<Row>(`select rows.*, loan.stream from ${table} as rows join loan on loan.id = rows.operation`),
  );
  return rows.map(({ operation: _, ...row }) => row);
};
