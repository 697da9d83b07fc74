import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { BusinessClock } from '../../../application/ports/clock.ts';
import type { OldestWaiting } from '../../../application/webhooks/delivery-lag.ts';
import type { StateCount } from '../../../application/loans/operation-states.ts';

/** What is asked for at each scrape, instead of being reported when it happens. */
export interface LookedUp {
  /** State of each long-lived piece of work of this process, such as `projector: running`. */
  readonly states: () => Readonly<Record<string, string>>;
  /** Operations that wait in quarantine, by the read model that they wait for, or `publishing`. */
  readonly quarantined: () => Readonly<Record<string, number>>;
  /** The checks of readiness; `ok` or what is wrong. */
  readonly checks: () => Promise<Readonly<Record<string, string>>>;
  /** Only where deliveries are sent from. */
  readonly waitingDeliveries?: () => Promise<readonly OldestWaiting[]>;
  /** Age in seconds of the oldest transaction of the database; only where it keeps dead rows for it. */
  readonly oldestTransaction?: () => Promise<number>;
  /** Operations of every state; only where the scheduler may run. */
  readonly operationStates?: () => Promise<readonly StateCount[]>;
  /** Messages that wait on the event bus, a consumer group; only where the bus keeps them. */
  readonly busLag?: () => Promise<Readonly<Record<string, number>>>;
  /** Whether this process holds the lease, for each role that it would take over; none where nothing is shared. */
  readonly leases: () => Readonly<Record<string, boolean>>;
  /** How often since the start the event store found this process too slow a subscriber; only where it tells. */
  readonly slowMoments?: () => number;
}

/** A series for each subscription that lags most: their number must not grow with the number of customers. */
const MOST_SUBSCRIPTIONS = 50;

/**
 * @param clock of operations: they wait by business time, deliveries and transactions by real time
 * @returns one refresher a number; each brings its gauges up to date
 */
export const lookedUpGauges = (
  registry: Registry,
  sources: LookedUp,
  clock: Pick<BusinessClock, 'now'>,
): readonly (() => Promise<void>)[] => [
  stateGauge(registry, sources.states),
  quarantineGauge(registry, sources.quarantined),
  checkGauge(registry, sources.checks),
  ...(sources.waitingDeliveries ? [waitingGauges(registry, sources.waitingDeliveries)] : []),
  ...(sources.oldestTransaction ? [transactionGauge(registry, sources.oldestTransaction)] : []),
  ...(sources.operationStates ? [operationGauges(registry, sources.operationStates, clock)] : []),
  ...(sources.busLag ? [busGauge(registry, sources.busLag)] : []),
  leaseGauge(registry, sources.leases),
  ...(sources.slowMoments ? [slowMomentCounter(registry, sources.slowMoments)] : []),
];

const stateGauge = (registry: Registry, states: LookedUp['states']): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'receivables_work_state',
    help: '1 for the state that a long-lived piece of work of this process is in.',
    labelNames: ['work', 'state'],
    registers: [registry],
  });
  return async () => {
    gauge.reset();
    for (const [work, state] of Object.entries(states())) gauge.set({ work, state }, 1);
  };
};

const quarantineGauge = (registry: Registry, quarantined: LookedUp['quarantined']): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'receivables_quarantined_operations',
    help: 'Operations and renegotiations that wait because one of their events cannot be taken; `receivables quarantine list` shows them.',
    labelNames: ['waits_for'],
    registers: [registry],
  });
  return async () => {
    gauge.reset();
    for (const [waits_for, operations] of Object.entries(quarantined())) gauge.set({ waits_for }, operations);
  };
};

const checkGauge = (registry: Registry, checks: LookedUp['checks']): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'receivables_readiness_check',
    help: '1 when what the service depends on answers, 0 when it does not.',
    labelNames: ['check'],
    registers: [registry],
  });
  return async () => {
    for (const [check, outcome] of Object.entries(await checks()))
      gauge.set({ check }, outcome === 'ok' ? 1 : 0);
  };
};

const waitingGauges = (
  registry: Registry,
  waiting: NonNullable<LookedUp['waitingDeliveries']>,
): (() => Promise<void>) => {
  const oldest = new Gauge({
    name: 'receivables_webhook_oldest_waiting_seconds',
    help: `Age of the oldest delivery that waits, for the ${MOST_SUBSCRIPTIONS} subscriptions that lag most.`,
    labelNames: ['webhook_id'],
    registers: [registry],
  });
  const subscriptions = new Gauge({
    name: 'receivables_webhook_subscriptions_waiting',
    help: 'Subscriptions with at least one delivery that waits.',
    registers: [registry],
  });
  return async () => {
    const lags = [...(await waiting())].sort((a, b) => (a.oldestCreatedAt < b.oldestCreatedAt ? -1 : 1));
    const now = Date.now();
    oldest.reset();
    subscriptions.set(lags.length);
    for (const { webhookId, oldestCreatedAt } of lags.slice(0, MOST_SUBSCRIPTIONS))
      oldest.set({ webhook_id: webhookId }, Math.max(0, now - Date.parse(oldestCreatedAt)) / 1_000);
  };
};

const transactionGauge = (registry: Registry, oldest: () => Promise<number>): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'receivables_database_oldest_transaction_seconds',
    help: 'Age of the oldest transaction of PostgreSQL that keeps dead rows; those of other users need pg_monitor.',
    registers: [registry],
  });
  return async () => gauge.set(await oldest());
};

/** Counting walks over all operations, so it is not done for every scrape. */
const COUNTED_FOR_MS = 60_000;

const operationGauges = (
  registry: Registry,
  states: NonNullable<LookedUp['operationStates']>,
  clock: Pick<BusinessClock, 'now'>,
): (() => Promise<void>) => {
  const operations = new Gauge({
    name: 'receivables_operations',
    help: 'Operations by their state, counted at most once a minute; every process with the scheduler role says the same.',
    labelNames: ['status'],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: 'receivables_operations_oldest_waiting_seconds',
    help: 'How long the first of the operations that wait for the administrator has been in this state, by business time.',
    labelNames: ['status'],
    registers: [registry],
  });
  let counted: { readonly at: number; readonly states: readonly StateCount[] } | undefined;
  return async () => {
    if (!counted || performance.now() - counted.at >= COUNTED_FOR_MS)
      counted = { at: performance.now(), states: await states() };
    const now = Date.parse(clock.now());
    operations.reset();
    oldest.reset();
    for (const { status, operations: count, oldestSince } of counted.states) {
      operations.set({ status }, count);
      if (oldestSince !== null) oldest.set({ status }, Math.max(0, now - Date.parse(oldestSince)) / 1_000);
    }
  };
};

const busGauge = (registry: Registry, lag: NonNullable<LookedUp['busLag']>): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'receivables_bus_lag_messages',
    help: 'Messages of the event bus that a consumer group has still to handle.',
    labelNames: ['group'],
    registers: [registry],
  });
  return async () => {
    for (const [group, messages] of Object.entries(await lag())) gauge.set({ group }, messages);
  };
};

const leaseGauge = (registry: Registry, leases: LookedUp['leases']): (() => Promise<void>) => {
  const gauge = new Gauge({
    name: 'receivables_lease_held',
    help: '1 when this process holds the lease of the role, 0 when it stands by for it.',
    labelNames: ['role'],
    registers: [registry],
  });
  return async () => {
    for (const [role, held] of Object.entries(leases())) gauge.set({ role }, held ? 1 : 0);
  };
};

const slowMomentCounter = (registry: Registry, count: () => number): (() => Promise<void>) => {
  const counter = new Counter({
    name: 'receivables_subscription_slow_moments_total',
    help: 'Moments in which the event store had events faster than this process took them; it goes on by itself.',
    registers: [registry],
  });
  return async () => {
    counter.reset();
    counter.inc(count());
  };
};
