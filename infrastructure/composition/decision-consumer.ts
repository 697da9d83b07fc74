import type { Administrator } from '../../application/administrator/administrator.ts';
import { running } from '../../application/coordination/background.ts';
import type { Background } from '../../application/coordination/background.ts';
import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { recordDecisions } from '../../application/administrator/desk-lines.ts';
import type { Desk } from '../../application/desk/desk.ts';
import type { Foundations } from './foundations.ts';
import { kafkaConnection } from './kafka-configuration.ts';
import type { KafkaConfiguration } from './kafka-configuration.ts';

/** Who decides where a decision of the topic names nobody. */
const NOBODY_NAMED = 'administrator';

/** Carries out the decisions of the topic; any number of processes may, each has its partitions. */
export const decisionConsumer = (
  { engines, logger, realClock, observability }: Foundations,
  { administrator, desk }: { readonly administrator: Administrator; readonly desk: Desk },
  kafka: KafkaConfiguration,
): Background =>
  running('administrator decisions', async (signal) => {
    const offsets = new ConsumerOffsets(engines.serviceDatabase, realClock);
    const { KafkaDecisionTopics } = await import('../kafka/kafka-decision-topics.ts');
    const topics = KafkaDecisionTopics.open({
      ...kafkaConnection(kafka, logger),
      offsets,
      topicMetrics: observability.metrics?.bus,
    });
    try {
      await topics.run(async (received) => {
        const answers = await administrator.process(received, { deadLetters: topics, logger });
        await recordDecisions(desk, { way: 'topic', name: NOBODY_NAMED }, answers);
      }, signal);
    } finally {
      await topics.close();
    }
  });
