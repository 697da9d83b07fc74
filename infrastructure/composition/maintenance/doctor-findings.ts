import { idleRolesOf } from '../../../application/maintenance/service-status.ts';
import type { Finding, FoundService } from '../../../application/maintenance/service-status.ts';
import type { Maintenance } from '../../../application/maintenance/maintenance.ts';
import type { OldestWaiting } from '../../../application/webhooks/queue/floors.ts';
import { COUNTED_AT_MOST } from '../../../application/webhooks/webhook-desk.ts';
import type { Webhooks } from '../../../application/webhooks/webhooks.ts';
import type { WebhookSubscription } from '../../../application/webhooks/subscriptions.ts';
import { pause } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';

type Outcome = Omit<Finding, 'check'>;
export type Found = Outcome | readonly Outcome[];

export const ok = (detail: string): Outcome => ({ state: 'ok', detail });
export const warning = (detail: string): Outcome => ({ state: 'warning', detail });
export const failed = (detail: string): Outcome => ({ state: 'failed', detail });

/** Where no service runs everything stands still: that is one finding, not one for each thing. */
export const service = (looked: FoundService): Found => {
  const { found, place } = looked;
  if (found === null) return failed(`no service runs on ${place}: start it`);
  const idle = idleRolesOf(looked);
  return idle.length === 0
    ? ok(found)
    : warning(`${found}, and no process has taken the role ${idle.join(', ')}: start one that has it`);
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The first repetitions of a delivery are over by then. */
const LONG_WAIT_MS = 15 * 60_000;
const MOST_NAMED = 10;

const lengthOf = (ms: number): string => {
  if (ms >= 2 * DAY_MS) return `${Math.floor(ms / DAY_MS)} days`;
  return ms >= 2 * HOUR_MS ? `${Math.floor(ms / HOUR_MS)} hours` : `${Math.ceil(ms / 1_000)} s`;
};

const stateOf = ({ status, failingSince }: WebhookSubscription): string => {
  if (status === 'paused') return 'it is paused: resume it, or delete it where nobody wants its events';
  if (failingSince === null) return 'see receivables webhook deliveries';
  return `no attempt has succeeded since ${failingSince}: see receivables webhook deliveries`;
};

/** Webhooks whose deliveries do not get through, the longest wait first. Only where a service runs: otherwise all of them wait. */
export const waitingDeliveries = async (
  { lag: waiting, subscriptions, desk }: Webhooks,
  realNow: string,
): Promise<Found> => {
  const now = Date.parse(realNow);
  const stuck: { readonly lag: OldestWaiting; readonly webhook: WebhookSubscription }[] = [];
  const lags = (await waiting.read()).toSorted((one, other) =>
    one.oldestCreatedAt < other.oldestCreatedAt ? -1 : 1,
  );
  for (const lag of lags) {
    const webhook = await subscriptions.find('operator', lag.webhookId);
    const long = now - Date.parse(lag.oldestCreatedAt) > LONG_WAIT_MS;
    if (webhook && (long || webhook.failingSince !== null)) stuck.push({ lag, webhook });
  }
  if (stuck.length === 0) return ok('none has waited for long');
  const named = stuck.slice(0, MOST_NAMED);
  const records = await desk.records(
    named.map(({ webhook }) => webhook.webhookId),
    1,
  );
  const found = named.map(({ lag, webhook }, index) => {
    const { waiting } = records[index]!;
    const count = waiting >= COUNTED_AT_MOST ? `at least ${waiting}` : String(waiting);
    const what = `${count} wait for webhook ${webhook.webhookId} (${webhook.url}), the oldest since ${lag.oldestCreatedAt}`;
    return warning(`${what}; ${stateOf(webhook)}`);
  });
  const more = stuck.length - named.length;
  return more > 0 ? [...found, warning(`and those of ${more} more webhooks wait`)] : found;
};

/** What works off a backlog has moved by then. */
const STANDS_STILL_MS = 3_000;

/** What is behind may be coming on: it is looked at twice. */
export const followers = async (maintenance: Pick<Maintenance, 'lag'>): Promise<Found> => {
  const { followers: before } = await maintenance.lag();
  if (before.every(({ behind, problem }) => behind === 0 && problem === undefined))
    return ok('none is behind');
  await pause(STANDS_STILL_MS);
  const { followers: after } = await maintenance.lag();
  return after.map(({ name, position, behind, problem }) => {
    if (problem !== undefined) return failed(`${name} cannot follow the log: ${problem}`);
    if (behind === 0 || before.every((one) => one.name !== name || one.position !== position))
      return ok(`${name} is ${behind} events behind`);
    return failed(
      `${name} stands still at ${position}, ${behind} events behind: the log of the service says why`,
    );
  });
};

/** Of which an event could not be taken: nothing else here notices, since what follows the log goes on with all others. */
export const quarantine = async (waiting: readonly string[]): Promise<Found> =>
  waiting.length === 0
    ? ok('nothing waits')
    : warning(
        `${waiting.length} of operations and renegotiations wait, such as ${waiting[0]}: see receivables quarantine list`,
      );

/** Of a sandbox: what is due there, and how long operations have waited, goes by this clock. */
export const sandboxClock = ({ movableClock }: Foundations): Found => {
  if (!movableClock) return [];
  const { offsetMs } = movableClock;
  if (offsetMs === 0) return ok('shows the real time');
  return warning(
    `was moved ${lengthOf(offsetMs)} ahead of the real time and shows ${movableClock.now()}; it never goes back`,
  );
};
