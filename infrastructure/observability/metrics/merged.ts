import { AggregatorRegistry } from 'prom-client';
import type { Registry } from 'prom-client';

/** The numbers of one registry as plain data, as prom-client exchanges them between processes. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** Counts add up; of a gauge that both report, the first one's value counts, because it is the same thing looked at twice. */
const combined = (metric: MetricValues): MetricValues =>
  String(metric.type) === 'gauge' ? { ...metric, aggregator: 'first' } : metric;

/** One text for what several threads of a process have counted. */
export const mergedText = (parts: readonly (readonly MetricValues[])[]): Promise<string> =>
  AggregatorRegistry.aggregate(parts.map((part) => part.map(combined))).metrics();
