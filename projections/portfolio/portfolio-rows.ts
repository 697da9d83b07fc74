/**
 * What a fund's position on any day is made of: facts with their business date and the instant at which they were recorded, never
 * a day's result. Amounts in integer cents.
 */
export interface PortfolioOperationRow {
  readonly stream: string;
  readonly application_id: string;
  readonly code: string;
  readonly fund_id: string;
  readonly daily_factor: string;
  /** The day on which the fund paid, where the administrator stated it; otherwise the day of `active_at`. */
  readonly active_date: string | null;
  /** When the disbursement was registered; null before it. */
  readonly active_at: string | null;
  readonly active_recorded_at: string | null;
  /**
   * Effective date of a repurchase, from its request on, or the stated day of the disbursement that replaced it; it counts once
   * `left_recorded_at` is there.
   */
  readonly left_date: string | null;
  /** When the disbursement of the operation that replaces it was registered; its day counts where there is no `left_date`. */
  readonly left_at: string | null;
  readonly left_recorded_at: string | null;
}

export interface PortfolioInstallmentRow {
  readonly stream: string;
  readonly code: string;
  readonly seq: number;
  readonly due_date: string;
  readonly face_value: number;
  /** Business date of the payment that closed it. */
  readonly closed_date: string | null;
  readonly closed_recorded_at: string | null;
}

/** Money that came in: for installments, or for an operation that left as a whole. */
export type PortfolioFlow = 'settled' | 'prepaid' | 'repurchased' | 'reversed' | 'resolved';

export interface PortfolioFlowRow {
  readonly stream: string;
  readonly revision: number;
  readonly flow: PortfolioFlow;
  readonly date: string;
  /** Net of excess. */
  readonly amount: number;
  /** Installments that it closed; 0 for an operation that left as a whole. */
  readonly installments: number;
  /** Null for a repurchase that the administrator has not processed. */
  readonly recorded_at: string | null;
}
