import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RealClock } from '../ports/clock.ts';
import { instantOf } from '../schemas/values.ts';
import type { RangeRedeliveries, RangeRedelivery } from './queue/range-redeliveries.ts';
import { requireActive } from './subscriptions.ts';
import type { WebhookCaller, WebhookSubscriptions } from './subscriptions.ts';

interface Dependencies {
  readonly subscriptions: WebhookSubscriptions;
  readonly ranges: RangeRedeliveries;
  readonly realClock: RealClock;
  readonly onQueued: (webhookIds: readonly string[]) => void;
}

interface RangeRequest {
  /** Created at or after, RFC 3339. */
  readonly since: string;
  /** Created before, RFC 3339; default: now. */
  readonly until?: string;
  readonly status?: Parameters<RangeRedeliveries['begin']>[0]['choice'];
}

const validation = (field: string, code: string, message: string): DomainError =>
  new DomainError('validation_error', `${field} ${message}`, [{ field, code, message }]);

const stillRunning = ({ redeliveryId, webhookId }: RangeRedelivery): DomainError => {
  const code = 'redelivery_running';
  const message = `redelivery ${redeliveryId} of webhook ${webhookId} is still running: read it, and start another once it has ended`;
  return new DomainError(code, message, [{ field: 'redelivery_id', code, message: redeliveryId }]);
};

const TRIES = 3;

/** Sending what a webhook got in a span of time once more, in the background. Throws DomainError `webhook_not_found` where there is none. */
export class Redeliveries {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Operations side by side. @throws DomainError `validation_error`, `webhook_invalid_state`, `redelivery_running` */
  async start(caller: WebhookCaller, webhookId: string, request: RangeRequest): Promise<RangeRedelivery> {
    const { subscriptions, ranges, realClock, onQueued } = this.#deps;
    const createdAt = realClock.realNow();
    const since = instantOf('since', request.since);
    const until = request.until === undefined ? createdAt : instantOf('until', request.until);
    if (until <= since && request.until !== undefined)
      throw validation('until', 'contradictory', 'must be later than since');
    if (until < since) throw validation('since', 'contradictory', `must not lie ahead of now, ${createdAt}`);
    const webhook = await subscriptions.existing(caller, webhookId);
    requireActive(webhook);
    const { applicationId } = webhook;
    const redeliveryId = randomUUID();
    const choice = request.status ?? 'failed';
    await this.#begin({ redeliveryId, webhookId, applicationId, choice, since, until, createdAt });
    await ranges.select(redeliveryId, realClock.realNow());
    const begun = await ranges.find(applicationId, webhookId, redeliveryId);
    onQueued([webhookId]);
    if (!begun) throw new Error(`redelivery ${redeliveryId} is gone`);
    return begun;
  }

  async #begin(range: Parameters<RangeRedeliveries['begin']>[0]): Promise<void> {
    const { ranges } = this.#deps;
    for (let tries = 1; ; tries++) {
      if (await ranges.begin(range)) return;
      const running = await ranges.runningAt(range.webhookId);
      if (running) throw stillRunning(running);
      if (tries === TRIES)
        throw new DomainError('concurrent_modification', 'other redeliveries came between: send it again');
    }
  }

  running(webhookId: string): Promise<RangeRedelivery | undefined> {
    return this.#deps.ranges.runningAt(webhookId);
  }

  /** Undefined when this webhook has none with this id, or has it no more. Those of a deleted webhook are found as well. */
  async find(
    caller: WebhookCaller,
    webhookId: string,
    redeliveryId: string,
  ): Promise<RangeRedelivery | undefined> {
    const { subscriptions, ranges } = this.#deps;
    const { applicationId } =
      caller === 'operator' ? await subscriptions.existing(caller, webhookId) : caller;
    const found = await ranges.find(applicationId, webhookId, redeliveryId);
    if (!found) await subscriptions.existing(caller, webhookId);
    return found;
  }
}
