import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { Publication } from '../../application/publication/publication.ts';
import { WrongUseError } from '../cli/command-line.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { pause, throttled } from '../support/time.ts';
import { cacheBytes } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import { kafkaConnection } from './kafka-configuration.ts';
import type { KafkaConfiguration } from './kafka-configuration.ts';
import type { Parts } from './parts.ts';
import { decodeRecorded } from './projections.ts';

const RELAY_PAUSE_MS = 20;

/** @throws WrongUseError without Kafka */
export const requireKafka = ({ kafka }: Configuration): KafkaConfiguration => {
  if (kafka) return kafka;
  throw new WrongUseError(
    'KAFKA_BROKERS is not set: events travel inside the process, and there are no topics',
  );
};

export const publicationOf = ({ foundations, checkpoints, relayQuarantine }: Parts): Publication => {
  const { configuration, engines, logger, realClock } = foundations;
  return new Publication({
    log: engines.eventStore,
    events: engines.eventStore,
    checkpoints,
    quarantine: relayQuarantine,
    readModel: engines.readModelDatabase,
    decode: decodeRecorded,
    apiVersion: API_VERSION,
    cacheBytes: cacheBytes(configuration, 'funds'),
    topics: async () => {
      const kafka = requireKafka(configuration);
      const offsets = new ConsumerOffsets(engines.serviceDatabase, realClock);
      const { TopicAdministration } = await import('../kafka/topic-administration.ts');
      return new TopicAdministration({ ...kafkaConnection(kafka, logger), offsets });
    },
  });
};

export const relayOf = ({ foundations, publication, webhooks }: Parts): Parts['relay'] => {
  const { engines, logger, observability } = foundations;
  return publication.relay({
    subscription: observability.follower('relay', throttled(engines.eventStore, RELAY_PAUSE_MS)),
    watch: engines.tracedEvents,
    bus: engines.eventBus,
    deliver: () => webhooks.worker.deliver,
    ...{ logger, pause },
  });
};
