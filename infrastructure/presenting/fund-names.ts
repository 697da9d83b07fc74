import type { FundNames } from '../../domain/fund/names.ts';
import type { Column } from './columns.ts';

/** The columns with the names of funds behind them, once any fund has one. */
export const withFundNames = <Row>(
  columns: readonly Column<Row>[],
  names: FundNames,
  fundOf: (row: Row) => string,
): readonly Column<Row>[] =>
  names.size === 0
    ? columns
    : [...columns, { name: 'fund_name', of: (row) => names.get(fundOf(row)) ?? null }];

const BESIDE: Readonly<Record<string, string>> = { fund_id: 'fund_name', fund_ids: 'fund_names' };

/** The name of a fund; of several, in the order of their ids, with the id where one has no name. */
const nameOf = (fund: unknown, names: FundNames): unknown =>
  Array.isArray(fund)
    ? (fund as readonly string[]).map((id) => names.get(id) ?? id)
    : (names.get(fund as string) ?? null);

export const withNamesBeside = <Row>(
  columns: readonly Column<Row>[],
  names: FundNames,
): readonly Column<Row>[] =>
  columns.flatMap((column) => {
    const name = names.size === 0 ? undefined : BESIDE[column.name];
    return name === undefined
      ? [column]
      : [column, { ...column, name, of: (row) => nameOf(column.of(row), names) }];
  });

export const withNameBeside = (fields: object, names: FundNames): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([field, value]) => {
      const name = names.size === 0 ? undefined : BESIDE[field];
      return name === undefined
        ? [[field, value]]
        : [
            [field, value],
            [name, nameOf(value, names)],
          ];
    }),
  );

export interface OfFund {
  readonly fundName?: string | undefined;
}

export const fundTitle = (fundId: string, { fundName }: OfFund): string =>
  fundName === undefined ? `Fund ${fundId}` : `Fund ${fundName} (${fundId})`;

export const fundFields = (fundId: string, { fundName }: OfFund): object => ({
  fund_id: fundId,
  ...(fundName !== undefined && { fund_name: fundName }),
});
