import { Registry, collectDefaultMetrics } from 'prom-client';
import type { BusinessClock } from '../../application/ports/clock.ts';
import { Followers } from './metrics/followers.ts';
import { instrumentsIn } from './metrics/instruments.ts';
import { lookedUpGauges } from './metrics/looked-up.ts';
import type { LookedUp } from './metrics/looked-up.ts';
import { Scrape } from './metrics/scrape.ts';
import { busMetrics, storeMetrics } from './metrics/store-metrics.ts';
import { commandMetrics, requestMetrics, webhookMetrics, workMetrics } from './metrics/work-metrics.ts';

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
  readonly requests = requestMetrics(this.registry);
  readonly commands = commandMetrics(this.registry);
  readonly stores = storeMetrics(this.registry);
  readonly webhooks = webhookMetrics(this.registry);
  readonly work = workMetrics(this.registry);
  readonly bus = busMetrics(this.registry);
  readonly followers: Followers;
  readonly #clock: Pick<BusinessClock, 'now'>;

  /** @param about undefined in a thread beside the one that counts for the process */
  constructor(about: About | undefined, clock: Pick<BusinessClock, 'now'>) {
    this.#clock = clock;
    this.followers = new Followers(this.registry, clock);
    if (!about) return;
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    const { gauge } = instrumentsIn(this.registry);
    const help = 'Always 1; its labels say what runs here.';
    gauge('receivables_info', help, 'version', 'environment', 'roles').set({ ...about }, 1);
  }

  scrape(sources: LookedUp): Scrape {
    return new Scrape(this.registry, [
      () => this.followers.refresh(),
      ...lookedUpGauges(this.registry, sources, this.#clock),
    ]);
  }
}
