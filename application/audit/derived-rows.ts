import type { ProjectedEvent, Projection, Row, TableWrite } from '../../projections/engine/projection.ts';

/** Rows by table. */
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

/**
 * What the read models hold of one operation after these events, which include those of other streams that write its rows.
 * @throws Error of a projection that cannot take an event
 */
export const deriveRows = (
  stream: string,
  projections: readonly Pick<Projection, 'project'>[],
  events: readonly ProjectedEvent[],
): Rows => {
  const rows = new OperationRows(stream);
  for (const event of events)
    for (const projection of projections) for (const write of projection.project(event)) rows.write(write);
  return rows.tables;
};
