import { AggregatorRegistry } from 'prom-client';
import type { Registry } from 'prom-client';
import { within } from '../../support/time.ts';

/** The numbers of one registry as plain data, as prom-client exchanges them between processes. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** Counts add up; of a gauge that both report, the first one's value counts, because it is the same thing looked at twice. */
const combined = (metric: MetricValues): MetricValues =>
  String(metric.type) === 'gauge' ? { ...metric, aggregator: 'first' } : metric;

/** One text for what several threads of a process have counted. */
const mergedText = (parts: readonly (readonly MetricValues[])[]): Promise<string> =>
  AggregatorRegistry.aggregate(parts.map((part) => part.map(combined))).metrics();

/** Numbers that are looked up elsewhere are at most this old, however often the metrics are scraped. */
const REFRESH_EVERY_MS = 2_000;
/** A store that hangs must not take the other numbers with it. */
const REFRESH_WITHIN_MS = 2_500;
/** Nor a thread that has ended meanwhile, or has no time; it may have to wait for a store itself. */
const ANSWER_WITHIN_MS = 2 * REFRESH_WITHIN_MS;

/** The text that Prometheus reads, with the looked-up numbers brought up to date before. */
export class Scrape {
  readonly contentType: string;
  readonly #registry: Registry;
  readonly #refreshers: readonly (() => Promise<void>)[];
  #refreshed: Promise<void> = Promise.resolve();
  #refreshedAt = -Infinity;

  /** Refreshers may fail: then their numbers are missing or old. */
  constructor(registry: Registry, refreshers: readonly (() => Promise<void>)[]) {
    this.#registry = registry;
    this.#refreshers = refreshers;
    this.contentType = registry.contentType;
  }

  /** With what others beside this registry have counted. */
  async text(beside?: Promise<readonly MetricValues[]>): Promise<string> {
    const asked = beside && within(ANSWER_WITHIN_MS, 'another thread', beside).catch(() => undefined);
    const [others] = await Promise.all([asked, this.#bringUpToDate()]);
    return others ? mergedText([await this.#registry.getMetricsAsJSON(), others]) : this.#registry.metrics();
  }

  /** All values as plain data, which can travel to another thread. */
  async values(): Promise<readonly MetricValues[]> {
    await this.#bringUpToDate();
    return this.#registry.getMetricsAsJSON();
  }

  async #bringUpToDate(): Promise<void> {
    const now = performance.now();
    if (now - this.#refreshedAt >= REFRESH_EVERY_MS) {
      this.#refreshedAt = now;
      this.#refreshed = this.#refresh();
    }
    await this.#refreshed;
  }

  async #refresh(): Promise<void> {
    const all = Promise.allSettled(this.#refreshers.map((refresh) => refresh()));
    await within(REFRESH_WITHIN_MS, 'looking numbers up', all).catch(() => undefined);
  }
}
