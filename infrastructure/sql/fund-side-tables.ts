import type { NotifiedPaymentRow } from '../../projections/reconciliation/notified-payment.ts';
import type {
  PortfolioFlowRow,
  PortfolioInstallmentRow,
  PortfolioOperationRow,
} from '../../projections/portfolio/portfolio-rows.ts';

/** Read models of the fund's side. */
export interface FundSideTables {
  readonly reconciled_operation: { stream: string; application_id: string; code: string; fund_id: string };
  readonly notified_payment: NotifiedPaymentRow;
  readonly completed_repurchase: { stream: string; completed_at: string };

  readonly portfolio_operation: PortfolioOperationRow;
  readonly portfolio_installment: PortfolioInstallmentRow;
  readonly portfolio_credit: {
    stream: string;
    installment_code: string;
    /** Of the prepayment that left it. */
    revision: number;
    value: string;
    date: string;
    recorded_at: string;
  };
  readonly portfolio_flow: PortfolioFlowRow;
}
