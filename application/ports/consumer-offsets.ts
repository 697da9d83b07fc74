/** The newest event that a group has handled of one operation. */
export interface OperationMark {
  /** Key of the operation on the bus. */
  readonly operation: string;
  readonly sequence: number;
  /** Events with this sequence that were handled; one stored event may give several public ones. */
  readonly eventIds: readonly string[];
}

/** How far a batch brings a consumer group in one partition; belongs into the same transaction as the batch's effects. */
export interface ConsumerProgress {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  /** Offset that is stored now; with any other in the store, somebody else went on and nothing may be written. */
  readonly from: number;
  /** Offset of the next message to handle. */
  readonly to: number;
  readonly operations: readonly OperationMark[];
}

/** The stored offset was not the expected one: another consumer has the partition, or an earlier try did commit. Nothing was stored. */
export class PartitionLostError extends Error {
  override readonly name = 'PartitionLostError';
  constructor({ group, topic, partition, from }: ConsumerProgress) {
    super(`group ${group} is no longer at offset ${from} of ${topic}/${partition}`);
  }
}

/**
 * Where consumer groups stand, in the store that holds the effects of what they consumed; this is the truth, the broker's own
 * record only follows. Errors of the store pass through.
 */
export interface ConsumerOffsets {
  /** Next offset by partition; no entry for a partition that the group never had. */
  load(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** First offset of a partition; changes nothing where there is one. */
  begin(group: string, topic: string, partition: number, offset: number): Promise<void>;
  /** For effects that are kept elsewhere, or that are none. @throws PartitionLostError */
  advance(progress: ConsumerProgress): Promise<void>;
  /** What the group has handled of these operations, most of the time something of each. */
  marks(group: string, operations: readonly string[]): Promise<ReadonlyMap<string, OperationMark>>;
}
