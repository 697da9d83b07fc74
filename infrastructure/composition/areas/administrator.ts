import { join } from 'node:path';
import { DecisionDesk } from '../../../application/administrator/decision-desk.ts';
import { AdministratorDecisions, deadLetterText } from '../../../application/administrator/decisions.ts';
import { FindOperation } from '../../../application/administrator/find-operation.ts';
import { ProcessDecisions } from '../../../application/administrator/process-decisions.ts';
import { running } from '../../../application/coordination/background.ts';
import type { Background } from '../../../application/coordination/background.ts';
import type { DecisionDeadLetters } from '../../../application/ports/decision-source.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { FileDeadLetters } from '../../administrator/file-dead-letters.ts';
import type { AdministratorServices } from '../../cli/cli-services.ts';
import { SqlConsumerOffsets } from '../../sql/consumer-offsets.ts';
import type { Foundations } from '../foundations.ts';
import { kafkaConnection } from '../kafka-configuration.ts';
import type { KafkaConfiguration } from '../kafka-configuration.ts';
import type { Adapters } from './adapters.ts';
import type { Commands } from './loans.ts';

/** The command line prints every answer itself. */
const SILENT: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
const DEAD_LETTER_FILE = 'administrator-decisions.dead-letter.jsonl';

/** The fund administrator's decisions, on their way to the operations. */
export const administratorArea = (
  { clock, configuration, observability }: Foundations,
  { events, formats }: Adapters,
  { handler }: Commands,
) => {
  const decisions = new AdministratorDecisions(handler, formats);
  const dates = { allowFuture: configuration.environment === 'sandbox' };
  const desk = new DecisionDesk({ decisions, events, clock, dates });
  return {
    decisions,
    desk,
    /** Decisions from one place, refused ones to another. */
    process: (deadLetters: DecisionDeadLetters, logger: Logger) =>
      new ProcessDecisions({ desk, deadLetters: observability.deadLetters(deadLetters), clock, logger }),
  };
};

export type Administrator = ReturnType<typeof administratorArea>;

/** Carries out the decisions of the topic; any number of processes may, each has its partitions. */
export const decisionConsumer = (
  { engines, logger, realClock }: Foundations,
  administrator: Administrator,
  kafka: KafkaConfiguration,
): Background =>
  running('administrator decisions', async (signal) => {
    const offsets = new SqlConsumerOffsets(engines.serviceDatabase, realClock);
    const { KafkaDecisionTopics } = await import('../../kafka/kafka-decision-topics.ts');
    const topics = KafkaDecisionTopics.open({
      ...kafkaConnection(kafka, logger),
      offsets,
      topicMetrics: engines.busReports,
    });
    const decisions = administrator.process(topics, logger);
    try {
      await topics.run(async (received) => void (await decisions.process(received)), signal);
    } finally {
      await topics.close();
    }
  });

export const administratorServices = (
  { configuration }: Foundations,
  { clientRegistry, events }: Adapters,
  administrator: Administrator,
): AdministratorServices => {
  const operations = new FindOperation({ registry: clientRegistry, events });
  return {
    applicationOf: (code) => operations.applicationOf(code),
    submitAll: (texts) => administrator.desk.submitAll(texts),
    into: (file) => {
      const deadLetter = file ?? join(configuration.dataDir, DEAD_LETTER_FILE);
      const decisions = administrator.process(new FileDeadLetters(deadLetter, deadLetterText), SILENT);
      return { process: (received) => decisions.process(received), deadLetter };
    },
  };
};
