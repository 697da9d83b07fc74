import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Refused } from '../../application/desk/sign-in.ts';
import { instrumentsIn } from './metrics/instruments.ts';
import { EVENT_LOOP_SAMPLE_MS } from './service-metrics.ts';

/** What the process of a console counts. It is no process of the service, so nothing here says that one runs. */
export class ConsoleMetrics {
  readonly #registry = new Registry();
  readonly #refused = instrumentsIn(this.#registry).counter(
    'receivables_console_refused_sign_ins_total',
    'People who were not let in at the console, or whose session the provider ended.',
    'when',
  );
  readonly contentType = this.#registry.contentType;

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    // Shown before the first one comes: an alert sees it rise from nought.
    for (const when of ['sign_in', 'session'] as const) this.#refused.inc({ when }, 0);
  }

  refused(when: Refused): void {
    this.#refused.inc({ when });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
