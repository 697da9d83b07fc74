import type { ListedTopic, TopicServices } from '../../cli/cli-services.ts';
import { NotAllowedError, WrongUseError } from '../../cli/command-line.ts';
import type { ExaminedTopic, TopicAdministration } from '../../kafka/topic-administration.ts';
import { SqlConsumerOffsets } from '../../sql/consumer-offsets.ts';
import type { Configuration } from '../configuration.ts';
import type { Foundations } from '../foundations.ts';
import { kafkaConnection } from '../kafka-configuration.ts';
import type { KafkaConfiguration } from '../kafka-configuration.ts';

/** @throws WrongUseError without Kafka */
export const requireKafka = ({ kafka }: Configuration): KafkaConfiguration => {
  if (kafka) return kafka;
  throw new WrongUseError(
    'KAFKA_BROKERS is not set: events travel inside the process, and there are no topics',
  );
};

/** @throws WrongUseError without Kafka */
const administrationOf = async ({
  configuration,
  engines,
  logger,
  realClock,
}: Foundations): Promise<TopicAdministration> => {
  const kafka = requireKafka(configuration);
  const offsets = new SqlConsumerOffsets(engines.serviceDatabase, realClock);
  const { TopicAdministration } = await import('../../kafka/topic-administration.ts');
  return new TopicAdministration({ ...kafkaConnection(kafka, logger), offsets });
};

const problemsOf = ({ topic, facts, kept, shortfalls }: ExaminedTopic): ListedTopic['problems'] => {
  const partitions = facts?.partitions.length;
  const changed = kept !== undefined && partitions !== undefined && kept !== partitions;
  return [
    ...(changed
      ? [
          {
            problem: `has ${partitions} partitions, operations are spread over ${kept}`,
            command: `receivables topics accept-partitions ${topic}`,
          },
        ]
      : []),
    ...shortfalls.map(({ setting, found, wanted, command }) => ({
      problem: `${setting} is ${found}, should be ${wanted}`,
      command,
    })),
  ];
};

const listed = (examined: ExaminedTopic): ListedTopic => {
  const { topic, facts, kept, waiting } = examined;
  const numberOf = (setting: string): number | undefined => {
    const text = facts?.settings.get(setting);
    return text === undefined ? undefined : Number(text);
  };
  return {
    topic,
    partitions: facts?.partitions.length ?? 0,
    spreadOver: kept,
    waiting,
    copies: facts ? Math.min(...facts.partitions.map(({ replicas }) => replicas.length)) : 0,
    minInsyncReplicas: numberOf('min.insync.replicas'),
    retentionMs: numberOf('retention.ms'),
    problems: problemsOf(examined),
  };
};

/** The topics of this service as they are now. @throws WrongUseError without Kafka */
export const listTopics = async (foundations: Foundations): Promise<readonly ListedTopic[]> =>
  (await (await administrationOf(foundations)).examine()).map(listed);

export const topicServices = (foundations: Foundations): TopicServices => ({
  list: () => listTopics(foundations),
  acceptPartitions: async (topic) => {
    const administration = await administrationOf(foundations);
    try {
      return await administration.acceptPartitions(topic);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'NotAcceptedError') throw error;
      throw new NotAllowedError(error.message, { cause: error });
    }
  },
});
