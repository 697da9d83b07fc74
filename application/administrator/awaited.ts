import type { OperationPlace } from '../command-handling/operation.ts';
import type { WaitingStatus } from '../../domain/loan/statuses.ts';

export const AWAITED = {
  received: 'approve',
  approved: 'sign',
  term_signed: 'disburse',
  repurchase_pending: 'process-repurchase',
} as const satisfies Readonly<Record<WaitingStatus, string>>;
export type AwaitingStatus = keyof typeof AWAITED;
export const AWAITING = Object.keys(AWAITED) as readonly AwaitingStatus[];

export interface PendingOperation extends OperationPlace {
  readonly fundId: string;
  readonly status: AwaitingStatus;
  /** In cents. */
  readonly acquisitionValue: number;
  readonly since: string;
}
