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

/** Of a report on one fund: its name, where it has one. */
export interface OfFund {
  readonly fundName?: string | undefined;
}

export const fundTitle = (fundId: string, { fundName }: OfFund): string =>
  fundName === undefined ? `Fund ${fundId}` : `Fund ${fundName} (${fundId})`;

/** How JSON names it. */
export const fundFields = (fundId: string, { fundName }: OfFund): object => ({
  fund_id: fundId,
  ...(fundName !== undefined && { fund_name: fundName }),
});
