import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { eventIndex } from '../../../infrastructure/composition/read-models.ts';
import { ApiClient, loanRequest } from '../../support/api-client.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { emptied } from '../../support/known-operations.ts';
import { RunningService } from '../../support/running-service.ts';
import { until } from '../../support/within.ts';

const fund = randomUUID();

describe.each(['embedded', 'EventStoreDB'])('an event that nobody subscribed to, %s', (profile) => {
  let standIn: EventStoreDbStandIn | undefined;
  let service: RunningService;
  let api: ApiClient;
  let applicationId: string;
  let events: readonly PublicEvent[] = [];

  const published = async (): Promise<readonly PublicEvent[]> => {
    const found: PublicEvent[] = [];
    const stream = service.service.parts.publication.stream;
    for await (const { event } of stream({ follow: false, applicationId }, new AbortController().signal))
      found.push(event);
    return found;
  };
  const follow = ({ eventId }: Pick<PublicEvent, 'eventId'>, client = api) =>
    client.call('GET', `/webhook/event/${eventId}`);
  const allFollowed = () =>
    until(async () => {
      const answers = await Promise.all(events.map((event) => follow(event)));
      return answers.every(({ status }) => status === 200);
    }, 'every event followed');

  beforeAll(async () => {
    standIn = profile === 'embedded' ? undefined : await EventStoreDbStandIn.start();
    service = await RunningService.start(standIn && { EVENTSTORE_URL: standIn.url });
    const client = await service.createClient(fund);
    applicationId = client.application_id;
    api = new ApiClient(service.baseUrl, client);
    await api.assign(loanRequest(fund, 'ALONE'));
    await until(async () => (events = await published()).length > 3, 'what the operation went through');
  }, 60_000);
  afterAll(async () => {
    await service?.stop();
    await standIn?.kill();
  });

  test('is followed with its frozen body and no delivery', async () => {
    await allFollowed();
    for (const event of events) {
      const { status, body } = await follow(event);
      const report = { event_id: event.eventId, event: event.name, body: event.body, deliveries: [] };
      expect([status, body]).toEqual([200, report]);
    }
  });

  test('is sent again once a webhook takes it', async () => {
    const redelivered = () => api.call('POST', `/webhook/event/${events[0]!.eventId}/redeliver`);
    const nobody = await redelivered();
    expect([nobody.status, nobody.body.error_code]).toEqual([422, 'webhook_invalid_state']);
    const url = 'https://receiver.example.com/hooks';
    const webhook = (await api.call('POST', '/webhook', { url, events: ['*'] })).body;
    const { status, body } = await redelivered();
    expect([status, body.deliveries]).toMatchObject([202, [{ webhook_id: webhook.webhook_id, attempt: 1 }]]);
    // The others are followed without a delivery.
    await api.call('DELETE', `/webhook/${webhook.webhook_id}`);
    await until(async () => (await follow(events[0]!)).body.deliveries.length === 0, 'the delivery is gone');
  });

  test('is not there for another application, nor is one that never happened', async () => {
    const stranger = await service.client(fund);
    for (const answer of [await follow(events[0]!, stranger), await follow({ eventId: randomUUID() })])
      expect([answer.status, answer.body.error_code]).toEqual([404, 'event_not_found']);
  });

  test('is found after a rebuild, and in read models that were made before it was looked for there', async () => {
    const { parts } = service.service;
    const { generations } = parts;
    const request = { signal: new AbortController().signal, onProgress: () => undefined, force: false };
    const differing: unknown[] = [];
    const rebuilt = await parts.maintenance.readModels.rebuild({
      ...request,
      onDifference: (_, difference) => void differing.push(difference),
    });
    expect([rebuilt.outcome, differing]).toEqual(['switched', []]);
    await allFollowed();
    if (!generations.projections.includes(eventIndex)) return;
    const serving = await generations.open(rebuilt.generation);
    await emptied(serving.database, eventIndex);
    expect(await serving.rows(eventIndex)).toBe(0);
    await serving.database.close();
    // Something to follow makes the projector look where it stands.
    await api.assign(loanRequest(fund, 'NEXT'));
    await allFollowed();
  });
});
