import { StatementError } from '../../application/reconciliation/statement-line.ts';
import type { StatementFormat } from '../../application/ports/fund-reports.ts';

/** Places of the columns in a record; undefined for a reference that the statement does not have. */
export interface Columns {
  readonly date: number;
  readonly amount: number;
  readonly reference: number | undefined;
}

const folded = (text: string): string => text.trim().toLowerCase();

const LONGEST_LIST = 500;
const listed = (record: readonly string[]): string => {
  const text = record.join(', ');
  return text.length > LONGEST_LIST ? `${text.slice(0, LONGEST_LIST)}...` : text;
};

const numbered = (name: string, width: number): number | undefined =>
  /^\d{1,3}$/.test(name) && Number(name) >= 1 && Number(name) <= width ? Number(name) - 1 : undefined;

const locate = (name: string, option: string, record: readonly string[], header: boolean): number => {
  const found = header
    ? record.flatMap((title, index) => (folded(title) === folded(name) ? [index] : []))
    : [];
  if (found.length > 1)
    throw new StatementError(`${found.length} columns are called ${name}; give ${option} its number`);
  const place = found[0] ?? numbered(name, record.length);
  if (place !== undefined) return place;
  throw new StatementError(
    header
      ? `no column ${name} among ${listed(record)}; say with ${option} which one it is`
      : `${option} ${name} is not a column from 1 to ${record.length}`,
  );
};

/** Finds the columns by the first record, which is the header where there is one. @throws StatementError */
export const columnsOf = (record: readonly string[], format: StatementFormat): Columns => {
  const { header } = format;
  return {
    date: locate(format.dateColumn, '--date-column', record, header),
    amount: locate(format.amountColumn, '--amount-column', record, header),
    reference:
      format.referenceColumn === '-'
        ? undefined
        : locate(format.referenceColumn, '--reference-column', record, header),
  };
};
