import { MovableClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ServiceMetrics } from '../../../infrastructure/observability/service-metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const docs = join(import.meta.dirname, '../../../docs');
const { groups } = parse(readFileSync(join(docs, 'operations/alerts.yml'), 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const runbook = readFileSync(join(docs, 'operations.md'), 'utf8');

const { registry } = (() => {
  const metrics = new ServiceMetrics(
    { version: '1', environment: 'sandbox', roles: 'api' },
    new MovableClock(Date.now),
  );
  metrics.scrape({
    states: () => ({}),
    quarantined: () => ({}),
    checks: async () => ({}),
    waitingDeliveries: async () => [],
    operationStates: async () => [],
    busLag: async () => ({}),
    oldestTransaction: async () => 0,
    leases: () => ({}),
  });
  return metrics;
})();
/** A metric by the name of one of its series. */
const metricOf = (series: string) =>
  registry.getSingleMetric(series) ?? registry.getSingleMetric(series.replace(/_(bucket|sum|count)$/, ''));
const seriesIn = (text: string) =>
  [...text.matchAll(/\b((?:receivables|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name, matchers = '']) => ({
      name: name!,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
    }),
  );
const labelsOf = (name: string): readonly string[] =>
  (metricOf(name) as unknown as { readonly labelNames: readonly string[] }).labelNames;

describe('alert rules', () => {
  test('there are some, each under a name of its own', () => {
    expect(rules.length).toBeGreaterThan(15);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test.each(rules)('$alert asks for series and labels that the service has', ({ expr }) => {
    const series = seriesIn(expr);
    expect(series.length).toBeGreaterThan(0);
    for (const { name, labels } of series) {
      expect([name, metricOf(name) !== undefined]).toEqual([name, true]);
      expect(labelsOf(name)).toEqual(expect.arrayContaining(labels));
    }
    const depth = [...expr].reduce((open, c) => open + (c === '(' ? 1 : c === ')' ? -1 : 0), 0);
    expect(depth).toBe(0);
  });

  test.each(rules)(
    '$alert says who is woken and what is the matter',
    ({ labels, annotations, for: wait }) => {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(annotations.summary.length).toBeGreaterThan(10);
      if (wait !== undefined) expect(wait).toMatch(/^\d+[smh]$/);
    },
  );
});

describe('the dashboard', () => {
  const { panels } = JSON.parse(readFileSync(join(docs, 'operations/grafana-dashboard.json'), 'utf8')) as {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { expr: string }[] }[];
  };

  test.each(panels)('"$title" asks for series and labels that the service has', ({ targets }) => {
    for (const { expr } of targets) {
      const series = seriesIn(expr);
      expect(series.length).toBeGreaterThan(0);
      for (const { name, labels } of series) {
        expect([name, metricOf(name) !== undefined]).toEqual([name, true]);
        expect(labelsOf(name)).toEqual(expect.arrayContaining(labels));
      }
    }
  });
});

describe('the runbook', () => {
  const sections = new Map(
    runbook
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section.split(/^## /m)[0]!]),
  );

  test.each(rules)(
    'has a section on $alert: what it means, where to look, what to do, when it is over',
    ({ alert }) => {
      const section = sections.get(alert);
      expect(section).toBeDefined();
      for (const part of ['**Means.**', '**Look.**', '**Do.**', '**Over when.**'])
        expect(section).toContain(part);
    },
  );

  test('names only metrics that exist', () => {
    const named = [...new Set(seriesIn(runbook).map(({ name }) => name))];
    expect(named.filter((name) => metricOf(name) === undefined)).toEqual([]);
  });
});
