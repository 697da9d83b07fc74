import { DECISIONS_AT_ONCE, deadLetterText } from '../../application/administrator/decisions.ts';
import type {
  DecisionDeadLetters,
  ReceivedDecision,
  RefusedDecision,
} from '../../application/administrator/decisions.ts';
import { MessageTooLargeError } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { SCHEMA_VERSION } from '../../application/publication/catalogue.ts';
import { aborted } from '../support/time.ts';
import type { OrderedProducer } from './ordered-producer.ts';
import type { KafkaRecord } from './records.ts';
import { TopicPair } from './topic-pair.ts';
import type { TopicPairOptions } from './topic-pair.ts';
import { decisionTopicPlans } from './topic-check.ts';

const DECISIONS_GROUP = 'administrator';

const LONGEST_SHORTENED_TEXT = 10_000;

/** Bytes that are no text become an unreadable decision, which the one who carries them out refuses like any other. */
const received = ({ id, value }: KafkaRecord): ReceivedDecision => ({
  text: value?.toString('utf8') ?? '',
  origin: id,
});

/** The administrator's decisions as they come in on a topic, and those that were refused as they go out on another. */
export class KafkaDecisionTopics implements DecisionDeadLetters {
  readonly #offsets: ConsumerOffsets;
  readonly #pair: TopicPair;
  readonly #refused: OrderedProducer;

  /** Connects when it is needed. */
  constructor(options: TopicPairOptions) {
    this.#offsets = options.offsets;
    // What was refused lies among the dead letters once, however often those behind it have to be tried.
    const consumer = { batchSize: DECISIONS_AT_ONCE, ...options.consumer };
    this.#pair = new TopicPair({ ...options, consumer }, decisionTopicPlans(options));
    this.#refused = this.#pair.producerFor(this.#pair.deadLetter);
  }

  /**
   * Decisions from outside, at least once, those on one operation in the order in which they were sent (the topic is keyed like the
   * event stream: application and operation). Hands over one batch after the other until the signal ends, and resolves once the batch
   * at hand is finished. A batch counts as done when the handler resolves; when it throws, the same batch comes again after a growing
   * pause, for ever: whatever can never succeed is the handler's to put aside.
   */
  async run(
    handle: (decisions: readonly ReceivedDecision[], signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const consumer = this.#pair.consume<never>({
      group: this.#pair.groupOf(DECISIONS_GROUP),
      handle: async (records, ofMember) => {
        await handle(records.map(received), ofMember);
        return { writes: [] };
      },
      commit: (progress) => this.#offsets.advance(progress),
    });
    await aborted(signal);
    await consumer.close();
  }

  async put(refused: RefusedDecision): Promise<void> {
    try {
      await this.#send(refused);
    } catch (error) {
      if (!(error instanceof MessageTooLargeError)) throw error;
      // Escaping may make a text larger than it came in; the whole of it still lies at its origin.
      await this.#send({ ...refused, text: refused.text.slice(0, LONGEST_SHORTENED_TEXT) }, 'shortened');
    }
  }

  async #send(refused: RefusedDecision, text: 'whole' | 'shortened' = 'whole'): Promise<void> {
    const { decisionId, origin } = refused;
    const headers = {
      schema_version: SCHEMA_VERSION,
      origin,
      text,
      ...(decisionId !== undefined && { decision_id: decisionId }),
    };
    await this.#refused.send([{ key: decisionId ?? null, value: deadLetterText(refused), headers }]);
  }

  async close(): Promise<void> {
    await this.#pair.close();
  }
}
