import type { Container } from 'inversify';
import { running } from '../../application/coordination/background.ts';
import type { Background } from '../../application/coordination/background.ts';
import { SqlConsumerOffsets } from '../sql/consumer-offsets.ts';
import { decisionProcess } from './administrator-module.ts';
import { kafkaConnection } from './kafka-configuration.ts';
import type { KafkaConfiguration } from './kafka-configuration.ts';
import { TOKENS } from './tokens.ts';

/** Carries out the decisions of the topic; any number of processes may, each has its partitions. */
export const decisionConsumer = (container: Container, kafka: KafkaConfiguration): Background =>
  running('administrator decisions', async (signal) => {
    const logger = container.get(TOKENS.logger);
    const offsets = new SqlConsumerOffsets(
      container.get(TOKENS.serviceDatabase),
      container.get(TOKENS.realClock),
    );
    const { KafkaDecisionTopics } = await import('../kafka/kafka-decision-topics.ts');
    const topics = KafkaDecisionTopics.open({ ...kafkaConnection(kafka, logger), offsets });
    const decisions = decisionProcess(container, topics);
    try {
      await topics.run(async (received) => void (await decisions.process(received)), signal);
    } finally {
      await topics.close();
    }
  });
