import type { Row, ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import { differingRows, shown, telling } from './difference.ts';
import { isByOperation, storedRow } from '../projecting/stored-rows.ts';
import { keyOf } from '../sql/read-model-tables.ts';
import type { Report } from './difference.ts';

export type Rows = ReadonlyMap<string, readonly Row[]>;

/** Only while it is made; most writes change a row that is there. */
type MutableRow = { -readonly [Column in keyof Row]: Row[Column] };

const matches = (row: Row, where: readonly (readonly [string, unknown])[]): boolean =>
  where.every(([column, value]) => row[column] === value);

/** The rows of one operation, as projections write them, in memory. Writes to other operations' rows meet none here. */
class OperationRows {
  readonly #stream: string;
  readonly #tables = new Map<string, MutableRow[]>();

  constructor(stream: string) {
    this.#stream = stream;
  }

  get tables(): Rows {
    return this.#tables;
  }

  write(write: TableWrite): void {
    const rows = this.#tables.get(write.table) ?? [];
    if (write.op === 'insert') {
      for (const row of write.rows) if (row['stream'] === this.#stream) rows.push({ ...row });
      this.#tables.set(write.table, rows);
      return;
    }
    const where = Object.entries(write.where);
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index]!;
      if (!matches(row, where)) continue;
      if (write.op === 'delete') rows.splice(index--, 1);
      else change(row, write);
    }
  }
}

const change = (row: MutableRow, { set, add }: Extract<TableWrite, { op: 'update' }>): void => {
  for (const column in set) row[column] = set[column]!;
  for (const column in add) row[column] = Number(row[column]) + add[column]!;
};

const storedRows = (tables: Rows): Rows => {
  const [loan] = tables.get('loan') ?? [];
  if (!loan) return tables;
  const key = { id: Number(loan['id']), fundId: String(loan['fund_id']) };
  return new Map(
    [...tables].map(([table, rows]) => [
      table,
      isByOperation(table) ? rows.map((row) => storedRow(table, row, key)) : rows,
    ]),
  );
};

/** @throws Error of a projection that cannot take an event */
export const deriveRows = (
  stream: string,
  projections: readonly Pick<Projection, 'project'>[],
  events: readonly ProjectedEvent[],
): Rows => {
  const rows = new OperationRows(stream);
  for (const event of events)
    for (const projection of projections) for (const write of projection.project(event)) rows.write(write);
  return storedRows(rows.tables);
};

/** Columns of keys that are the same for all rows of an operation, or values of a payment, which may be wrong. */
const NAMELESS: ReadonlySet<string> = new Set([
  ...['id', 'stream', 'operation', 'application_id', 'fund_id', 'date', 'position'],
]);

const nameIn = (key: readonly string[], row: Row): string =>
  key.reduce((name, column) => (NAMELESS.has(column) ? name : `${name} ${row[column]}`), '');

/** As a field of an event would be called, which says whether its value may be shown. */
const pathOf = (table: string, column: string): string =>
  table === 'document' ? `documents.0.${column}` : column;

export const compareTable = (
  stream: string,
  table: string,
  { expected, found, report }: { expected: Rows; found: readonly Row[]; report: Report },
): void => {
  const columns = keyOf(table);
  const nameOf = (row: Row): string => nameIn(columns, row);
  for (const one of differingRows(nameOf, expected.get(table) ?? [], found)) {
    const { expected: wanted, found: row } = one;
    const what = `${table}${nameOf((row ?? wanted)!)}`;
    const revision = typeof row?.['revision'] === 'number' ? row['revision'] : null;
    const tell = telling(report, 'read_model', { stream, revision });
    if (!row) tell(what, 'a row', '(no row)');
    else if (!wanted) tell(what, '(no row)', 'a row');
    for (const column of one.columns) {
      const path = pathOf(table, column);
      tell(`${what}: ${column}`, shown(path, wanted?.[column]), shown(path, row?.[column]));
    }
  }
};

const VERSION = /"api_version":"[^"]*"/;

/** A body says which version of the interface it was frozen under; everything else must be as it is made today. */
const underVersionOf = (body: string, frozen: string): string => {
  const [version] = VERSION.exec(frozen) ?? [];
  return version === undefined ? body : body.replace(VERSION, () => version);
};

/** Where two bodies part: a difference in the middle of a long text is easier found from there. */
const firstDifference = (a: string, b: string): number => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return Math.max(0, at - 20);
};

const FIELDS = ['name', 'applicationId', 'fundId', 'code', 'sequence', 'timestamp'] as const;

export const compareDelivery = (
  stream: string,
  made: PublicEvent,
  frozen: PublicEvent,
  report: Report,
): void => {
  const tell = telling(report, 'delivery', { stream, revision: made.sequence });
  for (const field of FIELDS)
    if (made[field] !== frozen[field])
      tell(`${made.eventId}: ${field}`, shown(field, made[field]), shown(field, frozen[field]));
  const body = made.body === frozen.body ? frozen.body : underVersionOf(made.body, frozen.body);
  if (body === frozen.body) return;
  const from = firstDifference(body, frozen.body);
  tell(`${made.eventId}: body`, shown('', body.slice(from)), shown('', frozen.body.slice(from)));
};
