import type { App } from '../app.ts';
import { ownerOf } from '../command-handling/operation.ts';
import type { Rights } from '../desk/rights.ts';
import type { EventDelivery } from '../webhooks/delivery-log.ts';
import { noWebhook } from '../webhooks/subscriptions.ts';
import type { WebhookSubscription } from '../webhooks/subscriptions.ts';
import { masked, narrowedTo } from './desk.ts';
import type { Desk } from './desk.ts';

/** Webhooks are of applications, whose funds may be several: who does not see all that one may be sent does not see it at all. */
export const webhooksFor = (
  { clients, webhooks }: Pick<App, 'clients' | 'webhooks'>,
  rights: Rights,
): Desk['webhooks'] => {
  const limited = (): boolean => rights.within('see') !== undefined;

  const fundsOfApplications = async (): Promise<ReadonlyMap<string, readonly string[]>> =>
    new Map((await clients.list()).map(({ applicationId, fundIds }) => [applicationId, fundIds]));

  const fundsOf = (
    { fundIds, applicationId }: WebhookSubscription,
    linked: ReadonlyMap<string, readonly string[]>,
  ): readonly string[] => fundIds ?? linked.get(applicationId) ?? [];

  const seen = async (found: readonly WebhookSubscription[]): Promise<readonly WebhookSubscription[]> => {
    if (!limited()) return found;
    const linked = await fundsOfApplications();
    return found.filter((one) => {
      const funds = fundsOf(one, linked);
      return funds.length > 0 && funds.every((fundId) => rights.has('see', fundId));
    });
  };

  const list: Desk['webhooks']['list'] = async (applicationIds) => seen(await webhooks.list(applicationIds));

  const seenIds = async (applicationIds: readonly string[]): Promise<readonly string[]> =>
    (await list(applicationIds)).map(({ webhookId }) => webhookId);

  const find: Desk['webhooks']['find'] = async (caller, webhookId) => {
    const [found] = await seen([await webhooks.find(caller, webhookId)]);
    if (found === undefined) throw noWebhook(webhookId);
    return found;
  };

  /** What a receiver answers may name a borrower. */
  const withoutBorrower = <Delivery extends EventDelivery>(one: Delivery): Delivery =>
    rights.has('borrowers', one.fundId ?? undefined)
      ? one
      : {
          ...one,
          attemptLog: one.attemptLog.map((ended) => ({ ...ended, responseBody: masked(ended.responseBody) })),
        };

  const shown = async <Delivery extends EventDelivery>(
    applicationId: string,
    all: readonly Delivery[],
  ): Promise<readonly Delivery[]> => {
    const ids = limited() ? new Set(await seenIds([applicationId])) : undefined;
    return all.filter(({ webhookId }) => ids === undefined || ids.has(webhookId)).map(withoutBorrower);
  };

  /** For what goes to an endpoint whatever fund it is of: the right has to reach as far as the endpoint does. */
  const mayReach = async (webhookId: string): Promise<WebhookSubscription> => {
    rights.within('resend');
    const webhook = await find('operator', webhookId);
    for (const fundId of fundsOf(webhook, await fundsOfApplications())) rights.require('resend', fundId);
    return webhook;
  };

  const event: Desk['webhooks']['deliveries']['event'] = async ({ applicationId }, eventId) => {
    const report = await webhooks.deliveries.event({ applicationId, ...narrowedTo(rights, 'see') }, eventId);
    return { ...report, deliveries: await shown(applicationId, report.deliveries) };
  };

  return {
    list,
    find,
    deliveries: {
      async page(caller, webhookId, search) {
        const { applicationId } = await find(caller, webhookId);
        const narrowed = limited() ? { applicationId, ...narrowedTo(rights, 'see') } : caller;
        return webhooks.deliveries.page(narrowed, webhookId, search);
      },
      waiting: (webhook, deliveries) => webhooks.deliveries.waiting(webhook, deliveries),
      event,
      async ofRecorded(recorded) {
        const found = await webhooks.deliveries.ofRecorded(recorded);
        return recorded[0] ? shown(ownerOf(recorded[0].stream), found) : [];
      },
      async ping(caller, webhookId) {
        await mayReach(webhookId);
        return webhooks.deliveries.ping(caller, webhookId);
      },
      async resend(webhookId, eventId) {
        rights.within('resend');
        const webhook = await find('operator', webhookId);
        const { deliveries } = await event(webhook, eventId);
        for (const { fundId } of deliveries) if (fundId !== null) rights.require('resend', fundId);
        return webhooks.deliveries.resend(webhookId, eventId);
      },
    },
    redeliveries: {
      async start(caller, webhookId, request) {
        await mayReach(webhookId);
        return webhooks.redeliveries.start(caller, webhookId, request);
      },
      async find(caller, webhookId, redeliveryId) {
        await find('operator', webhookId);
        return webhooks.redeliveries.find(caller, webhookId, redeliveryId);
      },
      async running(webhookId) {
        await find('operator', webhookId);
        return webhooks.redeliveries.running(webhookId);
      },
    },
    desk: {
      async endpoints(query) {
        if (!limited()) return webhooks.desk.endpoints(query);
        const only = await seenIds(await clients.applications());
        return only.length === 0
          ? { endpoints: [], nextCursor: null }
          : webhooks.desk.endpoints({ ...query, only });
      },
      async records(webhookIds, deliveries) {
        if (!limited()) return webhooks.desk.records(webhookIds, deliveries);
        const ids = new Set(await seenIds(await clients.applications()));
        const hidden = webhookIds.find((id) => !ids.has(id));
        if (hidden !== undefined) throw noWebhook(hidden);
        return webhooks.desk.records(webhookIds, deliveries, rights.within('see'));
      },
    },
  };
};
