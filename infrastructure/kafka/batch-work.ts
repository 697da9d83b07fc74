import type { EachBatchPayload } from 'kafkajs';
import type { ConsumerOffsets, ConsumerProgress } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import type { Assignment } from './group-session.ts';
import type { DeadLetterTopic } from './dead-letter-topic.ts';
import { RefusedRecordError, recordOf } from './records.ts';
import type { KafkaRecord } from './records.ts';

/**
 * Handles records in order, all of one partition. Answers the progress as it wrote it together with the effects, or leaves that to
 * the consumer. Throws RefusedRecordError for what can never be handled; anything else is tried again.
 */
export type RecordHandler = (
  records: readonly KafkaRecord[],
  progress: ConsumerProgress,
  signal: AbortSignal,
) => Promise<HandledRecords>;

export type HandledRecords =
  | { readonly stored: true }
  /** To be stored now; with what the handler found out of the operations. */
  | { readonly stored: false; readonly progress: ConsumerProgress };

export interface BatchSettings {
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** Most records handed over at once. */
  readonly batchSize: number;
}

interface Dependencies {
  readonly group: string;
  readonly topic: string;
  readonly offsets: ConsumerOffsets;
  readonly handle: RecordHandler;
  readonly deadLetters: DeadLetterTopic;
  readonly logger: Logger;
  readonly settings: BatchSettings;
}

/** One fetched batch of one partition, from the stored offset to its end, however long the store is away. */
export class BatchWork {
  readonly #deps: Dependencies;
  readonly #assignment: Assignment;
  readonly #partition: number;
  readonly #records: readonly KafkaRecord[];
  readonly #end: number;
  readonly #refused = new Set<number>();

  constructor(dependencies: Dependencies, assignment: Assignment, { batch }: EachBatchPayload) {
    this.#deps = dependencies;
    this.#assignment = assignment;
    this.#partition = batch.partition;
    this.#records = batch.messages.map((message) => recordOf(batch.topic, batch.partition, message));
    this.#end = Number(batch.lastOffset()) + 1;
  }

  get end(): number {
    return this.#end;
  }

  /** Answers the next offset to handle: the batch's end, or wherever the store says to go on, or how far it came. */
  async run(from: number, signal: AbortSignal): Promise<number> {
    let next = from;
    // The store may have been set back meanwhile, to what this batch does not hold.
    for (let failures = 0; next >= from && next < this.#end && !signal.aborted;) {
      try {
        next = await this.#step(next, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        next = await this.#afterFailure(error, next, ++failures, signal);
      }
    }
    this.#assignment.moved(this.#partition, next);
    return next;
  }

  async #step(next: number, signal: AbortSignal): Promise<number> {
    const { group, topic, offsets, handle, settings } = this.#deps;
    const rest = this.#records.filter(({ offset }) => offset >= next && !this.#refused.has(offset));
    const records = rest.slice(0, settings.batchSize);
    const to = records.length === rest.length ? this.#end : records.at(-1)!.offset + 1;
    const progress = { group, topic, partition: this.#partition, from: next, to, operations: [] };
    try {
      const handled = await handle(records, progress, signal);
      if (!handled.stored) await offsets.advance(handled.progress);
      return to;
    } catch (error) {
      if (!(error instanceof RefusedRecordError)) throw error;
      await this.#putAside(error, records);
      return next;
    }
  }

  async #putAside({ offset, message }: RefusedRecordError, records: readonly KafkaRecord[]): Promise<void> {
    const record = records.find((one) => one.offset === offset);
    if (!record) throw new Error(`offset ${offset} is not in the batch: ${message}`);
    await this.#deps.deadLetters.put(record, this.#deps.group, message);
    this.#refused.add(offset);
  }

  /** An outcome may be unknown, or another consumer may have the partition: only the store can tell where to go on. */
  async #afterFailure(error: unknown, next: number, failures: number, signal: AbortSignal): Promise<number> {
    const { group, topic, logger, settings } = this.#deps;
    const pauseMs = backoff(failures, settings.firstRetryMs, settings.longestRetryMs);
    const fields = { group, topic, partition: this.#partition, offset: next, attempt: failures };
    const reason = messageOf(error);
    logger.warn(
      { ...fields, reason, pause_ms: pauseMs },
      'event handler failed, the batch is handed out again',
    );
    await pause(pauseMs, signal);
    try {
      return (await this.#assignment.stored(this.#partition)) ?? next;
    } catch {
      return next;
    }
  }
}
