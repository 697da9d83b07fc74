import { randomUUID } from 'node:crypto';
import type { DeliveryRecord } from '../../../../application/webhooks/delivery-log.ts';
import type { LaneSchedule } from '../../../../application/webhooks/queue/lease-lanes.ts';
import type { WebhookEvent } from '../../../../application/webhooks/queue/enqueue.ts';
import { NO_METRICS } from '../../../support/no-metrics.ts';
import type { WebhookMetrics } from '../../../../application/ports/observation.ts';
import type { SqlDatabase } from '../../../../application/sql/sql-database.ts';
import { DeliveryLog } from '../../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../../../application/webhooks/subscriptions.ts';
import { dispatchSettings } from '../../../../infrastructure/webhooks/dispatch/dispatch-settings.ts';
import type { DispatchSettings } from '../../../../infrastructure/webhooks/dispatch/dispatch-settings.ts';
import { WebhookDispatcher } from '../../../../infrastructure/webhooks/dispatch/dispatcher.ts';
import type {
  AttemptOutcome,
  Located,
  Route,
  WebhookRequest,
  WebhookSender,
} from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { WebhookSecrets } from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { parseWebhookUrl } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { spoiled } from '../../../support/spoiled.ts';
import { until } from '../../../support/within.ts';

export const OK: AttemptOutcome = { kind: 'delivered', status: 200 };
export const REFUSED: AttemptOutcome = {
  kind: 'failed',
  status: 500,
  reason: 'http_status',
  error: 'http status 500',
};
export const DOWN: AttemptOutcome = {
  kind: 'failed',
  status: null,
  reason: 'connection_refused',
  error: 'connection refused',
};
export const NEVER = new Promise<AttemptOutcome>(() => undefined);

export interface SentRequest extends WebhookRequest {
  readonly url: string;
}
type Respond = (request: SentRequest) => AttemptOutcome | Promise<AttemptOutcome>;

/** Stands in for the network: remembers what was sent and answers as told. */
export class ScriptedSender implements WebhookSender {
  readonly sent: SentRequest[] = [];
  respond: Respond = () => OK;
  /** What a name server says of the address; most are known at once. */
  resolved: (url: string) => Located | Promise<Located> | undefined = () => undefined;
  readonly #urls = new WeakMap<Route, string>();
  mostAtOnce = 0;
  #underWay = 0;
  #cut!: (outcome: AttemptOutcome) => void;
  readonly #closed = new Promise<AttemptOutcome>((resolve) => (this.#cut = resolve));

  locate(url: string): Located | Promise<Located> {
    const route = { target: parseWebhookUrl(url), addresses: undefined };
    this.#urls.set(route, url);
    const location = this.resolved(url) ?? { kind: 'found', route };
    const closed = this.#closed.then((): Located => ({ kind: 'abandoned' }));
    return location instanceof Promise ? Promise.race([location, closed]) : location;
  }

  async send(unrouted: WebhookRequest, route: Route): Promise<AttemptOutcome> {
    const request = { ...unrouted, url: this.#urls.get(route) ?? route.target.origin };
    this.sent.push(request);
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#underWay);
    try {
      return await Promise.race([this.respond(request), this.#closed]);
    } finally {
      this.#underWay -= 1;
    }
  }

  close(): void {
    this.#cut({ kind: 'abandoned' });
  }

  idsTo(url: string): string[] {
    return this.sent.filter((request) => request.url === url).map(({ eventId }) => eventId);
  }
}

interface Worker {
  readonly sender?: ScriptedSender;
  readonly settings?: Partial<DispatchSettings>;
  readonly queue?: Partial<DeliveryQueue>;
  readonly metrics?: Partial<WebhookMetrics>;
  readonly now?: () => number;
}

/** Opens what was sealed with it; this one text is broken. */
export const BROKEN_SEAL = 'broken seal';
const openSecret = (text: string): string => {
  if (text === BROKEN_SEAL) throw new Error('does not open');
  return text;
};

/** A real queue, real dispatchers, and a network made of words. */
export class DispatchWorld {
  readonly applicationId = randomUUID();
  readonly logger = new RecordingLogger();
  readonly queue: DeliveryQueue;
  readonly log: DeliveryLog;
  readonly subscriptions: WebhookSubscriptions;
  readonly #dispatchers: WebhookDispatcher[] = [];
  readonly #webhooks = new Set<string>();
  readonly #sequences = new Map<string, number>();

  /** A world of its own in a database that several may share, one after the other. */
  constructor(database: SqlDatabase) {
    this.queue = new DeliveryQueue(database);
    this.log = new DeliveryLog(database);
    this.subscriptions = new WebhookSubscriptions(database);
  }

  async close(): Promise<void> {
    await Promise.all(this.#dispatchers.map((dispatcher) => dispatcher.stop(0)));
  }

  async subscribe(url: string): Promise<string> {
    const webhookId = randomUUID();
    this.#webhooks.add(webhookId);
    await this.subscriptions.add(
      {
        webhookId,
        applicationId: this.applicationId,
        url,
        events: ['*'],
        fundIds: null,
        description: null,
        sealedSecret: 'secret-1',
        createdAt: new Date(0).toISOString(),
      },
      100,
    );
    return webhookId;
  }

  event(code: string): WebhookEvent {
    const sequence = (this.#sequences.get(code) ?? -1) + 1;
    this.#sequences.set(code, sequence);
    const eventId = `${code}#${sequence}`;
    const timestamp = new Date().toISOString();
    const { applicationId } = this;
    return {
      eventId,
      name: 'loan_received',
      applicationId,
      fundId: 'f',
      code,
      sequence,
      timestamp,
      body: eventId,
    };
  }

  async enqueue(webhookId: string, events: readonly WebhookEvent[]): Promise<void> {
    await this.queue.enqueue(
      events.map((event) => ({ webhookId, event })),
      new Date().toISOString(),
    );
  }

  /** A worker of its own over the shared queue; stopped with the world. */
  worker({ sender = new ScriptedSender(), settings, queue, metrics, now = Date.now }: Worker = {}) {
    const dispatcher = new WebhookDispatcher({
      queue: spoiled(this.queue, { schedules: () => this.schedules(), ...queue }),
      sender,
      keys: new WebhookSecrets(openSecret),
      metrics: { ...NO_METRICS, ...metrics },
      logger: this.logger,
      now,
      settings: { ...dispatchSettings([20, 20, 20], 500), lookEveryMs: 50, ...settings },
    });
    this.#dispatchers.push(dispatcher);
    return { dispatcher, sender };
  }

  /** Of this world's subscriptions only. */
  async schedules(): Promise<readonly LaneSchedule[]> {
    return (await this.queue.schedules(new Date().toISOString())).filter(({ webhookId }) =>
      this.#webhooks.has(webhookId),
    );
  }

  async records(webhookId: string, status?: DeliveryRecord['status']): Promise<readonly DeliveryRecord[]> {
    return (await this.log.list({ webhookId, limit: 5_000, ...(status && { status }) })).deliveries;
  }

  untilDelivered(webhookId: string, count: number, ms?: number): Promise<void> {
    return until(
      async () => (await this.records(webhookId, 'delivered')).length === count,
      `${count} deliveries`,
      ms,
    );
  }
}
