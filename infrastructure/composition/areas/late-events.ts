import { FAN_OUT_GROUP, WebhookFanOut } from '../../../application/webhooks/fan-out.ts';
import { LateEvents } from '../../../application/webhooks/late-events.ts';
import type { CliServices } from '../../cli/cli-services.ts';
import { SqlConsumerOffsets } from '../../sql/consumer-offsets.ts';
import { SqlDeliveryQueue } from '../../sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../sql/webhooks/subscriptions.ts';
import type { Foundations } from '../foundations.ts';
import { kafkaConnection } from '../kafka-configuration.ts';
import type { Adapters } from './adapters.ts';
import { translatorOfEvents } from './publishing.ts';
import { requireKafka } from './topics.ts';
import { CLOCKS_APART_MS, deliveryClock } from './webhooks.ts';

/** A running service finds by itself what is queued here. */
const NOBODY = { wake: () => undefined };

/** Events that were put aside on their way to the webhooks. */
export const lateEventServices = (
  { configuration, engines, logger, realClock }: Foundations,
  adapters: Adapters,
): CliServices['lateEvents'] => {
  const open = async (): Promise<LateEvents> => {
    const kafka = requireKafka(configuration);
    const { KafkaDeadLetters } = await import('../../kafka/dead-letters.ts');
    const queue = new SqlDeliveryQueue(engines.serviceDatabase);
    return new LateEvents({
      letters: new KafkaDeadLetters({
        ...kafkaConnection(kafka, logger),
        offsets: new SqlConsumerOffsets(engines.serviceDatabase, realClock),
      }),
      group: kafka.topicPrefix + FAN_OUT_GROUP,
      events: adapters.events,
      translator: translatorOfEvents(adapters),
      fanOut: new WebhookFanOut({
        subscriptions: new SqlWebhookSubscriptions(engines.serviceDatabase),
        queue,
        clock: deliveryClock(engines),
        dispatcher: NOBODY,
        clockToleranceMs: CLOCKS_APART_MS,
      }),
      queue,
    });
  };
  return {
    list: async () => (await open()).list(),
    send: async (late) => (await open()).send(late),
  };
};
