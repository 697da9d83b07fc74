/** A decision of the administrator as it arrived, not read yet. */
export interface ReceivedDecision {
  /** One JSON text, see application/publication/description/decision-schema.ts. */
  readonly text: string;
  /** Where it stood, for people who look for it: topic, partition and offset, or a line of a file. */
  readonly origin: string;
}

/** A decision that was refused for good, with everything that is needed to mend it and send it again. */
export interface RefusedDecision extends ReceivedDecision {
  /** Undefined where the text is no decision at all. */
  readonly decisionId?: string;
  readonly reason: {
    /** Stable name of the rule. */
    readonly code: string;
    readonly message: string;
    /** Broken fields of a malformed decision. */
    readonly details: readonly { readonly field: string; readonly code: string; readonly message: string }[];
  };
  /** ISO 8601 UTC */
  readonly refusedAt: string;
}

/** Where refused decisions wait for people. Durable when `put` resolves; the same one may be put again after a crash. */
export interface DecisionDeadLetters {
  put(refused: RefusedDecision): Promise<void>;
}
