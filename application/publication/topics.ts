export interface ListedTopic {
  readonly topic: string;
  readonly partitions: number;
  readonly spreadOver: number | undefined;
  readonly waiting: number;
  /** Of the partition that has the fewest. */
  readonly copies: number;
  readonly minInsyncReplicas: number | undefined;
  readonly retentionMs: number | undefined;
  readonly problems: readonly { readonly problem: string; readonly command: string }[];
}

export interface Topics {
  list(): Promise<readonly ListedTopic[]>;
  /** @throws NotAcceptedError as long as an event could overtake another */
  acceptPartitions(topic: string): Promise<{ readonly before: number; readonly partitions: number }>;
  /** Resolves once a group has handled all that the topic holds at the call. @throws Error naming what is left when that takes longer */
  untilHandled(topic: string, group: string, ms: number): Promise<void>;
}

/** The number of partitions cannot be accepted now; the message says why and what to do. */
export class NotAcceptedError extends Error {
  override readonly name = 'NotAcceptedError';
}
