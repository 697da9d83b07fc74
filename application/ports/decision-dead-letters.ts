export interface ReceivedDecision {
  readonly text: string;
  readonly origin: string;
}

export interface RefusedDecision extends ReceivedDecision {
  readonly decisionId?: string;
  readonly reason: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly { readonly field: string; readonly code: string; readonly message: string }[];
  };
  readonly refusedAt: string;
}

/** Where refused decisions wait for people. Durable when `put` resolves; the same one may be put again after a crash. */
export interface DecisionDeadLetters {
  put(refused: RefusedDecision): Promise<void>;
}
