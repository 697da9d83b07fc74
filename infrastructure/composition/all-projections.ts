import type { Projection } from '../../projections/engine/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { portfolioProjection } from '../../projections/portfolio/portfolio-projection.ts';
import { reconciliationProjection } from '../../projections/reconciliation/reconciliation-projection.ts';

/** Every read model; together they are one generation. */
export const allProjections: readonly Projection[] = [
  loanProjection,
  reconciliationProjection,
  portfolioProjection,
];
