import { ReadModelBehindError } from '../../application/loans/read-loan.ts';
import { Publication } from '../../application/publication/publication.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { WrongUseError } from '../cli/command-line.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { pause, throttled } from '../support/time.ts';
import { cacheBytes } from './cache-shares.ts';
import type { Foundations } from './foundations.ts';
import type { Parts } from './parts.ts';
import { decodeRecorded } from './read-models.ts';

const RELAY_PAUSE_MS = 20;

/** @throws WrongUseError without Kafka */
export const requireKafka = ({ kafka }: Foundations): NonNullable<Foundations['kafka']> => {
  if (kafka) return kafka;
  throw new WrongUseError(
    'KAFKA_BROKERS is not set: events travel inside the process, and there are no topics',
  );
};

const [LOOK_AGAIN_MS, LONGEST_WAIT_MS] = [10, 3_000];

const isBehind = async ({ maintenance }: Parts): Promise<boolean> => {
  const { followers } = await maintenance.lag();
  return followers.some(
    ({ name, behind, problem }) => name === loanProjection.name && (behind > 0 || problem !== undefined),
  );
};

/** A process knows what it wrote itself. What was answered before it began is there once the read model has come to where the log ended then. */
const writtenOf = (parts: Parts): ((applicationId: string) => Promise<void>) => {
  let earlier: 'open' | 'there' = parts.embeddedLog ? 'open' : 'there';
  const untilEarlierShow = async (): Promise<void> => {
    for (let waited = 0; await isBehind(parts); waited += LOOK_AGAIN_MS) {
      if (waited >= LONGEST_WAIT_MS) throw new ReadModelBehindError();
      await pause(LOOK_AGAIN_MS);
    }
    earlier = 'there';
  };
  return async (applicationId) => {
    if (earlier === 'open') await untilEarlierShow();
    await parts.loans.written(applicationId);
  };
};

export const publicationOf = (parts: Parts): Publication => {
  const { checkpoints, configuration, eventStore, logger } = parts;
  return new Publication({
    log: eventStore,
    events: eventStore,
    checkpoints,
    quarantine: parts.relayQuarantine,
    readModel: parts.readModelDatabase,
    written: writtenOf(parts),
    logger,
    sleep: pause,
    decode: decodeRecorded,
    apiVersion: API_VERSION,
    cacheBytes: cacheBytes(configuration, 'funds'),
    topics: async () => {
      const kafka = requireKafka(parts);
      const { TopicAdministration } = await import('../kafka/topic-administration.ts');
      return new TopicAdministration(kafka);
    },
  });
};

export const relayOf = (parts: Parts): Parts['relay'] =>
  parts.publication.relay({
    subscription: parts.observability.follower('relay', throttled(parts.eventStore, RELAY_PAUSE_MS)),
    watch: parts.tracedEvents,
    bus: parts.eventBus,
    deliver: () => parts.sending.worker.deliver,
    ...{ logger: parts.logger, pause },
  });
