export interface ReceivedDecision {
  readonly text: string;
  /** Where it stood, for people who look for it: topic, partition and offset, or a line of a file. */
  readonly origin: string;
}

export interface RefusedDecision extends ReceivedDecision {
  /** Undefined where the text is no decision at all. */
  readonly decisionId?: string;
  readonly reason: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly { readonly field: string; readonly code: string; readonly message: string }[];
  };
  /** ISO 8601 UTC */
  readonly refusedAt: string;
}

/** Where refused decisions wait for people. Durable when `put` resolves; the same one may be put again after a crash. */
export interface DecisionDeadLetters {
  put(refused: RefusedDecision): Promise<void>;
}
