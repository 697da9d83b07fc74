import { afterAll } from '@jest/globals';
import { KafkaEventBus } from '../../infrastructure/kafka/kafka-event-bus.ts';
import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import { testKafka } from '../support/kafka/test-kafka.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { describeEventBusContract } from './event-bus-contract.ts';

const [kafka, store] = await Promise.all([testKafka(), openServiceDatabase()]);

afterAll(async () => {
  await Promise.all([kafka.close(), store.close()]);
});

describeEventBusContract(
  'KafkaEventBus',
  async () =>
    new KafkaEventBus({
      brokers: kafka.brokers,
      clientId: 'contract',
      offsets: new ConsumerOffsets(store.database, new ManualClock()),
      logger: new RecordingLogger(),
      topicPrefix: kafka.prefix(),
      topics: { partitions: 3, replication: 1 },
      producer: { sendTimeoutMs: 20_000 },
      consumer: { firstRetryMs: 5 },
    }),
  60_000,
);
