import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { BusinessClock } from '../../application/ports/clock.ts';
import { BusMetrics } from './metrics/bus-metrics.ts';
import { Followers } from './metrics/followers.ts';
import { lookedUpGauges } from './metrics/looked-up.ts';
import type { LookedUp } from './metrics/looked-up.ts';
import { Scrape } from './metrics/scrape.ts';
import { StoreMetrics } from './metrics/store-metrics.ts';
import { PrometheusWebhookMetrics } from './metrics/webhook-metrics.ts';
import { CommandMetrics, RequestMetrics, WorkMetrics } from './metrics/work-metrics.ts';

/** A sample is a wake-up: the default of 10 ms alone takes half a percent of a core from an idle service. The delays shown include it. */
export const EVENT_LOOP_SAMPLE_MS = 50;

interface About {
  readonly version: string;
  readonly environment: string;
  readonly roles: string;
}

/** Everything that this process, or a thread of it, counts, in a registry of its own. */
export class ServiceMetrics {
  readonly registry = new Registry();
  readonly requests: RequestMetrics;
  readonly commands: CommandMetrics;
  readonly stores: StoreMetrics;
  readonly followers: Followers;
  readonly webhooks: PrometheusWebhookMetrics;
  readonly work: WorkMetrics;
  readonly bus: BusMetrics;
  readonly #clock: Pick<BusinessClock, 'now'>;

  /** @param about undefined in a thread beside the one that counts for the process */
  constructor(about: About | undefined, clock: Pick<BusinessClock, 'now'>) {
    if (about)
      collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    this.#clock = clock;
    this.requests = new RequestMetrics(this.registry);
    this.commands = new CommandMetrics(this.registry);
    this.stores = new StoreMetrics(this.registry);
    this.followers = new Followers(this.registry, clock);
    this.webhooks = new PrometheusWebhookMetrics(this.registry);
    this.work = new WorkMetrics(this.registry);
    this.bus = new BusMetrics(this.registry);
    if (about) describe(this.registry, about);
  }

  scrape(sources: LookedUp): Scrape {
    return new Scrape(this.registry, [
      () => this.followers.refresh(),
      ...lookedUpGauges(this.registry, sources, this.#clock),
    ]);
  }
}

const describe = (registry: Registry, about: About): void =>
  new Gauge({
    name: 'receivables_info',
    help: 'Always 1; its labels say what runs here.',
    labelNames: ['version', 'environment', 'roles'],
    registers: [registry],
  }).set({ ...about }, 1);
