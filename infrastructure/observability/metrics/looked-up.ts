import type { Gauge, Registry } from 'prom-client';
import type { BusinessClock } from '../../../application/ports/clock.ts';
import type { OldestWaiting } from '../../../application/webhooks/queue/floors.ts';
import type { StateCount } from '../../../application/loans/operation-states.ts';
import { instrumentsIn } from './instruments.ts';

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

type Refresher = () => Promise<void>;
type Row = readonly [labels: Readonly<Record<string, string>>, value: number];
type Instruments = ReturnType<typeof instrumentsIn>;

/** A series for each row that there is now. */
const showing =
  (gauge: Gauge, rows: () => readonly Row[] | Promise<readonly Row[]>): Refresher =>
  async () => {
    const all = await rows();
    gauge.reset();
    for (const [labels, value] of all) gauge.set(labels, value);
  };

const rowsOf = <Value>(
  found: Readonly<Record<string, Value>>,
  rowOf: (name: string, value: Value) => Row,
): readonly Row[] => Object.entries(found).map(([name, value]) => rowOf(name, value));

const ageInSeconds = (since: string, now: number): number => Math.max(0, now - Date.parse(since)) / 1_000;

/**
 * @param clock of operations: they wait by business time, deliveries and transactions by real time
 * @returns one refresher a number; each brings its gauges up to date
 */
export const lookedUpGauges = (
  registry: Registry,
  sources: LookedUp,
  clock: Pick<BusinessClock, 'now'>,
): readonly Refresher[] => {
  const instruments = instrumentsIn(registry);
  const { gauge } = instruments;
  const { waitingDeliveries, oldestTransaction, operationStates, busLag, slowMoments } = sources;
  return [
    showing(
      gauge<string>(
        'receivables_work_state',
        '1 for the state that a long-lived piece of work of this process is in.',
        'work',
        'state',
      ),
      () => rowsOf(sources.states(), (work, state) => [{ work, state }, 1]),
    ),
    showing(
      gauge<string>(
        'receivables_quarantined_operations',
        'Operations and renegotiations that wait because one of their events cannot be taken; `receivables quarantine list` shows them.',
        'waits_for',
      ),
      () => rowsOf(sources.quarantined(), (waits_for, operations) => [{ waits_for }, operations]),
    ),
    showing(
      gauge<string>(
        'receivables_readiness_check',
        '1 when what the service depends on answers, 0 when it does not.',
        'check',
      ),
      async () => rowsOf(await sources.checks(), (check, outcome) => [{ check }, outcome === 'ok' ? 1 : 0]),
    ),
    ...(waitingDeliveries ? [waitingGauges(instruments, waitingDeliveries)] : []),
    ...(oldestTransaction
      ? [
          showing(
            gauge<string>(
              'receivables_database_oldest_transaction_seconds',
              'Age of the oldest transaction of PostgreSQL that keeps dead rows; those of other users need pg_monitor.',
            ),
            async () => [[{}, await oldestTransaction()]],
          ),
        ]
      : []),
    ...(operationStates ? [operationGauges(instruments, operationStates, clock)] : []),
    ...(busLag
      ? [
          showing(
            gauge<string>(
              'receivables_bus_lag_messages',
              'Messages of the event bus that a consumer group has still to handle.',
              'group',
            ),
            async () => rowsOf(await busLag(), (group, messages) => [{ group }, messages]),
          ),
        ]
      : []),
    showing(
      gauge<string>(
        'receivables_lease_held',
        '1 when this process holds the lease of the role, 0 when it stands by for it.',
        'role',
      ),
      () => rowsOf(sources.leases(), (role, held) => [{ role }, held ? 1 : 0]),
    ),
    ...(slowMoments ? [slowMomentCounter(instruments, slowMoments)] : []),
  ];
};

const waitingGauges = (
  { gauge }: Instruments,
  waiting: NonNullable<LookedUp['waitingDeliveries']>,
): Refresher => {
  const oldest = gauge(
    'receivables_webhook_oldest_waiting_seconds',
    `Age of the oldest delivery that waits, for the ${MOST_SUBSCRIPTIONS} subscriptions that lag most.`,
    'webhook_id',
  );
  const subscriptions = gauge(
    'receivables_webhook_subscriptions_waiting',
    'Subscriptions with at least one delivery that waits.',
  );
  return async () => {
    const lags = [...(await waiting())].sort((a, b) => (a.oldestCreatedAt < b.oldestCreatedAt ? -1 : 1));
    const now = Date.now();
    oldest.reset();
    subscriptions.set(lags.length);
    for (const { webhookId, oldestCreatedAt } of lags.slice(0, MOST_SUBSCRIPTIONS))
      oldest.set({ webhook_id: webhookId }, ageInSeconds(oldestCreatedAt, now));
  };
};

/** Counting walks over all operations, so it is not done for every scrape. */
const COUNTED_FOR_MS = 60_000;

const operationGauges = (
  { gauge }: Instruments,
  states: NonNullable<LookedUp['operationStates']>,
  clock: Pick<BusinessClock, 'now'>,
): Refresher => {
  const operations = gauge(
    'receivables_operations',
    'Operations by their state, counted at most once a minute; every process with the scheduler role says the same.',
    'status',
  );
  const oldest = gauge(
    'receivables_operations_oldest_waiting_seconds',
    'How long the first of the operations that wait for the administrator has been in this state, by business time.',
    'status',
  );
  let counted: { readonly at: number; readonly states: readonly StateCount[] } | undefined;
  return async () => {
    if (!counted || performance.now() - counted.at >= COUNTED_FOR_MS)
      counted = { at: performance.now(), states: await states() };
    const now = Date.parse(clock.now());
    operations.reset();
    oldest.reset();
    for (const { status, operations: count, oldestSince } of counted.states) {
      operations.set({ status }, count);
      if (oldestSince !== null) oldest.set({ status }, ageInSeconds(oldestSince, now));
    }
  };
};

const slowMomentCounter = ({ counter }: Instruments, count: () => number): Refresher => {
  const moments = counter(
    'receivables_subscription_slow_moments_total',
    'Moments in which the event store had events faster than this process took them; it goes on by itself.',
  );
  return async () => {
    moments.reset();
    moments.inc(count());
  };
};
