import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PaymentKind } from '../../projections/reconciliation/reconciliation-projection.ts';
import type { AwaitingStatus, PendingOperation } from './loan-queries.ts';

/** Operations of one fund that wait for the same decision. */
export interface WaitingGroup {
  readonly fundId: string;
  readonly status: AwaitingStatus;
  readonly operations: number;
  /** When the first of them came into this state, ISO 8601 UTC. */
  readonly oldestSince: string;
  /** In cents. */
  readonly acquisitionValue: number;
}

/** Where a worklist goes on: after this operation. */
export interface WaitingPlace {
  readonly since: string;
  readonly applicationId: string;
  readonly code: string;
}

export interface WaitingQuery {
  readonly fundId?: string;
  readonly status?: AwaitingStatus;
  readonly limit: number;
  readonly after?: WaitingPlace;
}

/** Installments of one fund that are open and not yet due. */
export interface FallingDue {
  readonly fundId: string;
  readonly installments: number;
  /** Face values in cents, without what prepayments left on them. */
  readonly faceValue: number;
}

/** Payments of one fund and kind that integrators notified. */
export interface NotifiedSum {
  readonly fundId: string;
  readonly kind: PaymentKind;
  readonly payments: number;
  /** In cents. */
  readonly amount: number;
}

/** What the people at the fund's desk look at, across all applications, as far as the read models have come. */
export interface Desk {
  /** By fund, then in the order of the decisions. */
  waiting(): Promise<readonly WaitingGroup[]>;
  /** Those that wait longest come first; one more than `limit` where there are more. */
  worklist(query: WaitingQuery): Promise<readonly PendingOperation[]>;
  /** Those of these operations that still wait, in the order of the worklist. */
  stillWaiting(
    operations: readonly { readonly applicationId: string; readonly code: string }[],
  ): Promise<readonly PendingOperation[]>;
  /** Due on these days, both inclusive, by fund. */
  fallingDue(from: CalendarDate, to: CalendarDate): Promise<readonly FallingDue[]>;
  /** Dated on these days, both inclusive, by fund and kind. */
  notified(from: CalendarDate, to: CalendarDate): Promise<readonly NotifiedSum[]>;
}
