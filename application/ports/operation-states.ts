/** Whose turn it is in these states: the decision of the fund's administrator that moves an operation on. */
export const AWAITED = {
  received: 'approve',
  approved: 'sign',
  term_signed: 'disburse',
  repurchase_pending: 'process-repurchase',
} as const;
export type AwaitingStatus = keyof typeof AWAITED;
export const AWAITING = Object.keys(AWAITED) as readonly AwaitingStatus[];

/** An operation that waits for the administrator. */
export interface PendingOperation {
  readonly applicationId: string;
  readonly code: string;
  readonly fundId: string;
  readonly status: AwaitingStatus;
  /** In cents. */
  readonly acquisitionValue: number;
  /** When it came into this state, ISO 8601 UTC. */
  readonly since: string;
}

export interface StateCount {
  readonly status: string;
  readonly operations: number;
  /** When the first of them came into this state; null where nothing is awaited. */
  readonly oldestSince: string | null;
}

/** Operations of every application by their state, as far as the read model has come. */
export interface OperationStates {
  /** Those that wait longest come first. */
  pending(query: {
    readonly applicationId?: string;
    readonly fundId?: string;
  }): Promise<readonly PendingOperation[]>;
  /** A state without operations is left out. */
  counts(): Promise<readonly StateCount[]>;
  /** Whether any operation belongs to this fund. */
  holds(fundId: string): Promise<boolean>;
}
