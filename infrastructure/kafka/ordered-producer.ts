import kafkajs from 'kafkajs';
import type { Kafka, Producer } from 'kafkajs';
import { MessageTooLargeError } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { TimedOutError, pause, within } from '../support/time.ts';
import { CONNECT_WITHIN_MS, RETRY, isAnswer } from './kafka-client.ts';
import type { KafkaTopics } from './topics.ts';

export interface OutgoingMessage {
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

export const DEFAULT_PRODUCER_SETTINGS = {
  /** From connecting to the acknowledgement of one request. A frozen broker is left after it: the next try learns who leads now. */
  sendTimeoutMs: 5_000,
  /**
   * Time-out of a request once `QUICK_TRIES` have timed out one after the other: a cluster that is merely slow then has the time to answer.
   */
  patientSendTimeoutMs: 20_000,
  /** Largest message with its headers that is sent; below the broker's `message.max.bytes`. */
  maxMessageBytes: 900 * 1024,
  /** Largest sum of messages in one request. */
  maxRequestBytes: 900 * 1024,
};
export type ProducerSettings = Readonly<typeof DEFAULT_PRODUCER_SETTINGS>;

/** Together longer than a cluster takes to replace a leader that is frozen: 9 s and an election as Kafka is configured by default. */
const QUICK_TRIES = 3;

/**
 * Of a broker that leads no more, or does not yet: the library has asked who does by the next try. Brokers that are busy agree late;
 * together the pauses stay below `sendTimeoutMs`. A connection that has ended is tried less often.
 */
const TRIES = { answered: 6, ended: 3 };
const TRY_AGAIN_MS = 100;
/** For the topic's largest message, and for the segments that its messages are kept in. */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];
const triesAfter = (error: unknown): number => {
  const cause = error instanceof kafkajs.KafkaJSError ? error.cause : undefined;
  if (!(cause instanceof kafkajs.KafkaJSError) || !cause.retriable) return 1;
  return cause instanceof kafkajs.KafkaJSProtocolError ? TRIES.answered : TRIES.ended;
};

/** How old a producer's knowledge of a topic may be. Within that time it notices added partitions, and refuses to spread over them: see `accept-partitions`. */
export const METADATA_MAX_AGE_MS = 10_000;

interface Dependencies {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly topics: Pick<KafkaTopics, 'ready' | 'requirePartitions'>;
  readonly logger: Logger;
  readonly settings: ProducerSettings;
}

interface Job {
  readonly messages: readonly OutgoingMessage[];
  readonly done: PromiseWithResolvers<void>;
}

/** By the broker, whose limit is lower than ours. */
class RefusedForSizeError extends MessageTooLargeError {
  readonly refused: OutgoingMessage;
  constructor(refused: OutgoingMessage, topic: string) {
    super(
      `message ${nameOf(refused)} for ${topic} has ${sizeOf(refused)} bytes, more than the broker takes: raise max.message.bytes of the topic, and segment.bytes where that is less`,
    );
    this.refused = refused;
  }
}

const nameOf = ({ key, headers }: OutgoingMessage): string => headers['event_id'] ?? String(key);

const sizeOf = ({ key, value, headers }: OutgoingMessage): number =>
  [key, value, ...Object.entries(headers).flat()].reduce(
    (sum, part) => sum + (part === null ? 0 : Buffer.byteLength(part)) + 8,
    0,
  );

/**
 * Sends to one topic, one request at a time and in the order of the calls. When a request fails, all calls that wait behind it
 * fail too, so that nothing overtakes what will be sent again; and the next one gets a new producer, which asks anew who leads.
 * A request that is tried again is sent as a whole. Left to the library, it is not: that keeps the answers of brokers from one try to the
 * next, does not send a partition whose leader has moved meanwhile to a broker that has answered already, and yet says that all was sent
 * (tulios/kafkajs#1303). What is sent twice, consumers know by its id.
 */
export class OrderedProducer {
  readonly #deps: Dependencies;
  #jobs: Job[] = [];
  #isDraining = false;
  #producer: Producer | undefined;
  #closed = false;
  #lastError: string | undefined;
  #timeouts = 0;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Why the last request failed; undefined after a success. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** @throws MessageTooLargeError before anything is sent, or after what stands before a message that the broker refuses */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    if (this.#closed) throw new Error('the producer is closed');
    if (messages.length === 0) return;
    for (const message of messages) this.#checkSize(message);
    const job: Job = { messages, done: Promise.withResolvers<void>() };
    this.#jobs.push(job);
    if (!this.#isDraining) void this.#drain();
    await job.done.promise;
  }

  /** What was not acknowledged fails. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#discard();
    this.#failAll(new Error('the producer is closed'));
  }

  #checkSize(message: OutgoingMessage): void {
    const { maxMessageBytes } = this.#deps.settings;
    const size = sizeOf(message);
    if (size <= maxMessageBytes) return;
    const text = `message ${nameOf(message)} for ${this.#deps.topic} has ${size} bytes, more than the ${maxMessageBytes} that are sent at most: no setting changes that, it waits for a release that sends more`;
    throw new MessageTooLargeError(text);
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#jobs.length > 0) {
      const jobs = [...this.#jobs];
      try {
        // Calls that came in while the last request was under way share the next ones.
        for (const request of this.#requests(jobs.flatMap(({ messages }) => messages)))
          await this.#request(request);
        this.#jobs = this.#jobs.slice(jobs.length);
        for (const { done } of jobs) done.resolve();
      } catch (error) {
        this.#failAll(error);
      }
    }
    // In the same step as the last look at the jobs: a call a moment later would wait for somebody who looks no more.
    this.#isDraining = false;
  }

  #failAll(error: unknown): void {
    const jobs = this.#jobs;
    this.#jobs = [];
    for (const { messages, done } of jobs) {
      const isOfAnother = error instanceof RefusedForSizeError && !messages.includes(error.refused);
      done.reject(isOfAnother ? new Error(`not sent with another: ${error.message}`) : error);
    }
  }

  #requests(messages: readonly OutgoingMessage[]): readonly (readonly OutgoingMessage[])[] {
    const requests: OutgoingMessage[][] = [[]];
    let size = 0;
    for (const message of messages) {
      size += sizeOf(message);
      if (size > this.#deps.settings.maxRequestBytes && requests.at(-1)!.length > 0) {
        requests.push([]);
        size = sizeOf(message);
      }
      requests.at(-1)!.push(message);
    }
    return requests;
  }

  async #request(messages: readonly OutgoingMessage[]): Promise<void> {
    const { topic, topics, settings } = this.#deps;
    const { sendTimeoutMs, patientSendTimeoutMs } = settings;
    const timeoutMs = this.#timeouts < QUICK_TRIES ? sendTimeoutMs : patientSendTimeoutMs;
    try {
      await within(patientSendTimeoutMs, `preparing ${topic}`, topics.ready());
      await within(timeoutMs, `sending to ${topic}`, this.#transmit(messages));
      this.#timeouts = 0;
      this.#lastError = undefined;
    } catch (error) {
      if (TOO_LARGE.some((type) => isAnswer(error, type))) return this.#oneByOne(messages);
      if (error instanceof TimedOutError) this.#timeouts++;
      this.#lastError = messageOf(error);
      void this.#discard();
      throw error;
    }
  }

  /** The broker measures together what goes to one partition, and takes what goes to others. */
  async #oneByOne(messages: readonly OutgoingMessage[]): Promise<void> {
    const [first, second] = messages;
    if (first && !second) throw new RefusedForSizeError(first, this.#deps.topic);
    for (const message of messages) await this.#request([message]);
  }

  async #transmit(messages: readonly OutgoingMessage[]): Promise<void> {
    const { topic } = this.#deps;
    if (this.#closed) throw new Error('the producer is closed');
    const producer = (this.#producer ??= this.#newProducer());
    try {
      await within(CONNECT_WITHIN_MS, 'connecting to Kafka', producer.connect());
      for (let tries = 1; ; tries++) {
        try {
          await producer.send({ topic, acks: -1, messages: messages.map((message) => ({ ...message })) });
          return;
        } catch (error) {
          if (tries >= triesAfter(error) || producer !== this.#producer) throw error;
          await pause(2 ** (tries - 1) * TRY_AGAIN_MS);
        }
      }
    } finally {
      // A send that was given up may have connected once more on its way out.
      if (producer !== this.#producer) await this.#disconnect(producer);
    }
  }

  #newProducer(): Producer {
    const { kafka, topic, topics } = this.#deps;
    return kafka.producer({
      maxInFlightRequests: 1,
      // Every client partitions alike, so that a key stays in its partition whichever of them writes it.
      createPartitioner: () => {
        const partition = kafkajs.Partitioners.DefaultPartitioner();
        return (message) => {
          topics.requirePartitions(topic, message.partitionMetadata.length);
          return partition(message);
        };
      },
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      retry: { ...RETRY, retries: 0 },
    });
  }

  async #discard(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    if (producer) await this.#disconnect(producer);
  }

  async #disconnect(producer: Producer): Promise<void> {
    await producer.disconnect().catch((error: unknown) => {
      this.#deps.logger.debug({ reason: messageOf(error) }, 'a producer did not disconnect cleanly');
    });
  }
}
