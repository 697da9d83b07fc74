import type { DeliveryQueue, RecordedResult } from '../../../application/webhooks/queue/delivery-queue.ts';
import type {
  AttemptResult,
  AttemptVerdict,
  AttemptWatch,
  WatchedAttempt,
} from '../../../application/webhooks/queue/result-statements.ts';
import type { LeasedDelivery } from '../../../application/webhooks/queue/lease-lanes.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { WebhookMetrics } from '../../../application/ports/observation.ts';
import { retry } from '../../../application/support/retry.ts';
import { pause } from '../../support/time.ts';
import { saysEndpointIsDown } from '../sending/webhook-sender.ts';
import type {
  AttemptOutcome,
  Located,
  Route,
  WebhookSecrets,
  WebhookSender,
} from '../sending/webhook-sender.ts';
import { STEP_MS, afterFailure, gathered, iso } from './dispatch-settings.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import type { Endpoint } from './endpoints.ts';

interface Waiting {
  readonly result: AttemptResult;
  readonly resolve: (recorded: RecordedResult) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_TOGETHER = 128;
const RETRY_PAUSES_MS = [50, 200, 500, 1_000];

/** Stores results as they come, one call at a time: what comes in while one is under way goes into the next together. */
class ResultWriter {
  readonly #deps: RunnerDependencies;
  #waiting: Waiting[] = [];
  #busy = false;

  constructor(dependencies: RunnerDependencies) {
    this.#deps = dependencies;
  }

  /** Resolves once it is stored, or known not to be. @throws the store's error after a few tries */
  record(result: AttemptResult): Promise<RecordedResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ result, resolve, reject });
      if (!this.#busy) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    // Results of the same turn of the event loop travel together from the first call on.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_TOGETHER);
      try {
        const recorded = await this.#store(batch.map(({ result }) => result));
        batch.forEach(({ resolve }, index) => resolve(recorded[index]!));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      await gathered(batch.length, this.#deps.settings.gatherMs);
    }
    this.#busy = false;
  }

  /** Storing a result twice is storing it once: after the first time its lease is gone, or its values are there already. */
  #store(results: readonly AttemptResult[]): Promise<readonly RecordedResult[]> {
    const { queue, logger, now, settings } = this.#deps;
    const store = (): Promise<readonly RecordedResult[]> => {
      const at = now();
      return queue.record(results, iso(at), iso(at + settings.leaseMs));
    };
    const onRetry = (error: unknown): void =>
      logger.warn({ err: error, results: results.length }, 'webhooks: results not stored yet');
    return retry(store, { pausesMs: RETRY_PAUSES_MS, mayPass: () => true, onRetry }, pause);
  }
}

export interface RunnerDependencies {
  readonly queue: DeliveryQueue;
  readonly sender: WebhookSender;
  readonly keys: WebhookSecrets;
  readonly metrics?: WebhookMetrics | undefined;
  readonly logger: Logger;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
  readonly settings: DispatchSettings;
  readonly attempts?: AttemptWatch | undefined;
  /** The result of an attempt outside the order is stored. */
  readonly onRedelivered?: (webhookId: string) => void;
}

export interface Ended extends WatchedAttempt {
  readonly outcome: Exclude<AttemptOutcome, { kind: 'abandoned' }>;
}

export const isRetry = (delivery: LeasedDelivery): boolean => delivery.scheduledAttempts > 0;

/** The steps of the work on a leased lane: attempt, result, next delivery. */
export class LaneRunner {
  readonly #deps: RunnerDependencies;
  readonly #results: ResultWriter;

  constructor(dependencies: RunnerDependencies) {
    this.#deps = dependencies;
    this.#results = new ResultWriter(dependencies);
  }

  /** Where the delivery goes; without a promise unless a name server has to be asked. */
  locate({ endpoint }: LeasedDelivery): Located | Promise<Located> {
    const { sender, settings } = this.#deps;
    return sender.locate(endpoint.url, endpoint.applicationId, settings.timeoutMs);
  }

  /** Whether it still goes to that address with that secret; known without asking a moment after the store was asked for it. */
  async isCurrent({ endpoint }: LeasedDelivery, askedAt: number): Promise<boolean> {
    if (performance.now() - askedAt < this.#deps.settings.knownForMs) return true;
    return this.#deps.queue.isCurrent(endpoint);
  }

  /**
   * One attempt; undefined when the lane was given back instead.
   * @param spentMs of the attempt's time, on finding out where it goes
   */
  async send(
    delivery: LeasedDelivery,
    endpoint: Endpoint,
    route: Route,
    spentMs: number,
  ): Promise<Ended | undefined> {
    const { sender, keys, now, settings } = this.#deps;
    const timeoutMs = Math.max(1, settings.timeoutMs - spentMs);
    const begunAt = now();
    const leftMs = Date.parse(delivery.lease.until) - begunAt;
    // A worker that was asleep for long must not send: another worker may be at it. So may it where the clock was set back.
    if (leftMs < timeoutMs || leftMs > settings.leaseMs + STEP_MS) return this.giveBack(delivery, endpoint);
    const { webhookId, sealedSecret } = delivery.endpoint;
    const { name, eventId, body } = delivery.event;
    const key = keys.keyOf(webhookId, sealedSecret);
    const request = { event: name, eventId, body, attempt: delivery.attempt, key };
    const outcome = await sender.send(request, route, timeoutMs);
    if (outcome.kind === 'abandoned') return this.giveBack(delivery, endpoint);
    return this.end({ delivery, outcome, startedAt: begunAt - spentMs, endedAt: now() }, endpoint);
  }

  /** What is known of an attempt that came to its end, also of one that was never sent. */
  end(ended: Ended, endpoint: Endpoint): Ended {
    const { outcome, delivery, startedAt, endedAt } = ended;
    const { metrics, logger, attempts } = this.#deps;
    const { breaker } = endpoint;
    endpoint.attempted(endedAt, endedAt - startedAt);
    const change = saysEndpointIsDown(outcome) ? breaker.down(endedAt, startedAt) : breaker.alive();
    if (change) {
      const state = breaker.probeAt === undefined ? 'closed' : 'opened';
      metrics?.breaker(state);
      logger.info({ webhook_id: endpoint.webhookId, breaker: state }, 'webhook endpoint');
    }
    metrics?.attempt({
      outcome: outcome.kind,
      ...(outcome.kind === 'failed' && { reason: outcome.reason }),
      first: delivery.attempt === 1,
      durationMs: endedAt - startedAt,
    });
    attempts?.attempted(ended);
    if (outcome.kind === 'failed') this.#tellOfFailure(outcome, delivery, endedAt - startedAt);
    return ended;
  }

  /** Stores the attempt's result; answers the lane's next delivery when the lease goes on. */
  async store(ended: Ended, endpoint: Endpoint, mayKeepLane: boolean): Promise<LeasedDelivery | undefined> {
    const verdict = this.#verdict(ended);
    const recorded = await this.#results.record(this.#result(ended, verdict, endpoint, mayKeepLane));
    return this.#afterwards(ended, verdict, endpoint, recorded);
  }

  async giveBack({ lease }: LeasedDelivery, endpoint: Endpoint): Promise<undefined> {
    const { queue, now } = this.#deps;
    await queue.release([lease], iso(now()));
    endpoint.wake(now());
    return undefined;
  }

  /** At `debug`, because a receiver that is down would fill a disk. */
  #tellOfFailure(
    { reason, status }: Extract<AttemptOutcome, { kind: 'failed' }>,
    { endpoint, deliveryId, event, attempt }: LeasedDelivery,
    durationMs: number,
  ): void {
    const fields = {
      webhook_id: endpoint.webhookId,
      delivery_id: deliveryId,
      event_id: event.eventId,
      attempt,
      reason,
      status,
      duration_ms: durationMs,
    };
    this.#deps.logger.debug(fields, 'delivery attempt failed');
  }

  #verdict({ delivery, outcome, endedAt }: Ended): AttemptVerdict {
    if (outcome.kind === 'delivered') return { kind: 'delivered' };
    if (delivery.redelivery) return { kind: 'failed' };
    return afterFailure(this.#deps.settings.schedule, delivery.scheduledAttempts, endedAt);
  }

  #result(ended: Ended, verdict: AttemptVerdict, endpoint: Endpoint, mayKeepLane: boolean): AttemptResult {
    const { delivery, outcome, startedAt, endedAt } = ended;
    return {
      delivery,
      record: {
        attempt: delivery.attempt,
        at: iso(startedAt),
        durationMs: Math.max(0, Math.round(endedAt - startedAt)),
        responseStatus: outcome.status,
        error: outcome.kind === 'failed' ? outcome.error : null,
        responseBody: outcome.responseBody ?? null,
      },
      verdict,
      keepLane: mayKeepLane && verdict.kind !== 'retry' && !delivery.redelivery,
      noteHealth: endpoint.shouldNote(outcome.kind === 'delivered', endedAt),
    };
  }

  #afterwards(
    ended: Ended,
    verdict: AttemptVerdict,
    endpoint: Endpoint,
    recorded: RecordedResult,
  ): LeasedDelivery | undefined {
    const { metrics, logger, now } = this.#deps;
    const { delivery } = ended;
    if (recorded.kind === 'lease_lost') {
      metrics?.leaseLost();
      logger.warn(
        { webhook_id: endpoint.webhookId, delivery_id: delivery.deliveryId },
        'webhook lane taken over',
      );
      return undefined;
    }
    if (delivery.redelivery) this.#deps.onRedelivered?.(endpoint.webhookId);
    // A redelivery may come days later by the choice of its owner: that is no latency.
    if (verdict.kind === 'delivered' && !delivery.redelivery)
      metrics?.delivered(ended.endedAt - Date.parse(delivery.createdAt));
    if (verdict.kind === 'failed' && !delivery.redelivery) this.#exhausted(ended);
    if (recorded.kind === 'next') return recorded.delivery;
    if (verdict.kind === 'retry') endpoint.retryAt(Date.parse(verdict.at));
    // Whoever queues something in a lane that is gone says so; a look for it now would find nothing.
    else if (recorded.kind !== 'emptied') endpoint.wake(now());
    return undefined;
  }

  /** The line that an operator gets woken by: all that is needed to find the receiver and to send again. */
  #exhausted({ delivery, outcome }: Ended): void {
    const { metrics, logger } = this.#deps;
    const { endpoint, event } = delivery;
    metrics?.exhausted();
    logger.error(
      {
        event: 'delivery_failed',
        webhook_id: endpoint.webhookId,
        application_id: endpoint.applicationId,
        // The path of a webhook's address may be a secret of its receiver.
        receiver: new URL(endpoint.url).origin,
        delivery_id: delivery.deliveryId,
        event_id: event.eventId,
        event_name: event.name,
        originator_proposal_code: event.code,
        fund_id: event.fundId,
        attempts: delivery.attempt,
        created_at: delivery.createdAt,
        last_response_status: outcome.status,
        last_error: outcome.kind === 'failed' ? outcome.error : null,
      },
      'delivery_failed',
    );
  }
}
