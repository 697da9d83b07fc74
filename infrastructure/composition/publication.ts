import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { Publication } from '../../application/publication/publication.ts';
import { WrongUseError } from '../cli/command-line.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { pause, throttled } from '../support/time.ts';
import type { Adapters } from './areas/adapters.ts';
import { cacheBytes } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import type { Foundations } from './foundations.ts';
import { kafkaConnection } from './kafka-configuration.ts';
import type { KafkaConfiguration } from './kafka-configuration.ts';
import { decodeRecorded } from './projections.ts';
import type { WebhookWorker } from '../webhooks/webhook-worker.ts';

const RELAY_PAUSE_MS = 20;

/** @throws WrongUseError without Kafka */
export const requireKafka = ({ kafka }: Configuration): KafkaConfiguration => {
  if (kafka) return kafka;
  throw new WrongUseError(
    'KAFKA_BROKERS is not set: events travel inside the process, and there are no topics',
  );
};

export const publicationOf = (
  { configuration, engines, logger, realClock }: Foundations,
  { events, checkpoints, relayQuarantine: quarantine }: Adapters,
): Publication =>
  new Publication({
    log: engines.eventStore,
    ...{ events, checkpoints, quarantine },
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

export const relayOf = (
  { engines, logger, observability }: Foundations,
  publication: Publication,
  webhooks: { readonly worker: WebhookWorker },
) =>
  publication.relay({
    subscription: observability.follower('relay', throttled(engines.eventStore, RELAY_PAUSE_MS)),
    watch: engines.tracedEvents,
    bus: engines.eventBus,
    deliver: () => webhooks.worker.deliver,
    ...{ logger, pause },
  });
