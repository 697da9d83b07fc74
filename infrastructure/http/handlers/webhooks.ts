import { isSoundText } from '../../../application/schemas/sound-text.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { NO_CONTENT, forClient, ok } from '../operation.ts';
import type { Call, Handler } from '../operation.ts';
import {
  presentCreatedWebhook,
  presentDeliveries,
  presentEvent,
  presentRedelivery,
  presentRotatedSecret,
  presentWebhook,
} from '../presenters/webhook.ts';
import { createWebhookInput, listDeliveriesInput, updateWebhookInput } from '../requests/webhook.ts';
import type { NewWebhookBody, WebhookUpdateBody } from '../requests/webhook.ts';
import type { UseCases } from '../resources/use-cases.ts';

/** An id of a path, as far as one can look like this. @throws HttpProblem 404 */
const idOf = (id: string | undefined, code: 'webhook_not_found' | 'event_not_found'): string => {
  if (id !== undefined && isSoundText(id)) return id;
  throw new HttpProblem(code, 'nothing has an id like this');
};
const webhookId = ({ params }: Call): string => idOf(params['webhook_id'], 'webhook_not_found');

export const webhookHandlers = ({ webhooks }: UseCases): Readonly<Record<string, Handler>> => ({
  createWebhook: {
    run: forClient(async (context, { body }) =>
      ok(presentCreatedWebhook(await webhooks.create(context, createWebhookInput(body as NewWebhookBody)))),
    ),
  },
  listWebhooks: {
    run: forClient(async (context) => ok({ data: (await webhooks.list(context)).map(presentWebhook) })),
  },
  updateWebhook: {
    run: forClient(async (context, call) => {
      const changes = updateWebhookInput(call.body as WebhookUpdateBody);
      return ok(presentWebhook(await webhooks.update(context, webhookId(call), changes)));
    }),
  },
  deleteWebhook: {
    run: forClient(async (context, call) => {
      await webhooks.remove(context, webhookId(call));
      return NO_CONTENT;
    }),
  },
  pauseWebhook: {
    run: forClient(async (context, call) =>
      ok(presentWebhook(await webhooks.pause(context, webhookId(call)))),
    ),
  },
  resumeWebhook: {
    run: forClient(async (context, call) =>
      ok(presentWebhook(await webhooks.resume(context, webhookId(call)))),
    ),
  },
  rotateWebhookSecret: {
    run: forClient(async (context, call) =>
      ok(presentRotatedSecret(await webhooks.rotateSecret(context, webhookId(call)))),
    ),
  },
  redeliverEvent: {
    run: forClient(async (context, { params }) => ({
      status: 202,
      json: presentRedelivery(await webhooks.redeliver(context, idOf(params['event_id'], 'event_not_found'))),
    })),
  },
  pingWebhook: {
    run: forClient(async (context, call) => ({
      status: 202,
      json: presentRedelivery(await webhooks.ping(context, webhookId(call))),
    })),
  },
  readEvent: {
    run: forClient(async (context, { params }) =>
      ok(presentEvent(await webhooks.event(context, idOf(params['event_id'], 'event_not_found')))),
    ),
  },
  listDeliveries: {
    run: forClient(async (context, call) =>
      ok(
        presentDeliveries(
          await webhooks.deliveries(context, webhookId(call), listDeliveriesInput(call.query)),
        ),
      ),
    ),
  },
});
