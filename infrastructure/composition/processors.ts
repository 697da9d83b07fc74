import { dueBefore, markOverdue, sweepOverdue } from '../../application/loans/overdue.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { PolledProgress, nearestProgress } from '../../application/loans/read-model-progress.ts';
import { PUBLISHING } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import type { MovableClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { catchUp } from '../../application/processors/catch-up.ts';
import type { Status } from '../../application/processors/processor.ts';
import { Runner } from '../../application/processors/runner.ts';
import { ReadModelFollower, readModelProcessor, readingOf } from '../../application/projecting/read-model.ts';
import { retryUntilAvailable } from '../../application/support/retry.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import type { Projection } from '../../projections/projection.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import { pause, throttled } from '../support/time.ts';
import type { Role } from './configuration.ts';
import type { Parts } from './parts.ts';
import { logOrder, toProjected } from './read-models.ts';

/** Requests wait for the loans; what finds events by their id leaves the machine to requests. */
const LOAN_PAUSE_MS = 8;
const INDEX_PAUSE_MS = 250;

/** What follows the log and writes rows, and what knows how far it is. */
export const readModelsOf = (parts: Parts): Parts['readModels'] => {
  const { eventStore, generations, logger, observability, projectionStore: store } = parts;
  const projector = (projection: Projection, pauseMs: number) =>
    new ReadModelFollower({
      projection,
      log: observability.follower(`${projection.name}-projector`, throttled(eventStore, pauseMs)),
      store,
      decode: toProjected,
      logger,
      pause,
    });
  const loanProjector = projector(loanProjection, LOAN_PAUSE_MS);
  const others = generations.projections.filter((projection) => projection !== loanProjection);
  const projectors = [loanProjector, ...others.map((projection) => projector(projection, INDEX_PAUSE_MS))];
  const now = (): number => performance.now();
  /** A service that runs beside it does the same work; each batch is stored by the faster of the two. */
  const catchingUp = (projection: Projection): (() => Promise<void>) => {
    const reading = { projection, log: eventStore, store, decode: toProjected };
    const runner = new Runner(readModelProcessor(reading), { logger, pause });
    const following = { source: eventStore, order: logOrder, ...readingOf(projection) };
    const work = () => catchUp([runner], following, new AbortController().signal);
    return oneAtATime(() => retryUntilAvailable(work, pause));
  };
  const catchUps = new Map(generations.projections.map((one) => [one.name, catchingUp(one)]));
  const loans = new SqlLoanReader(parts.readModelDatabase);
  return {
    caughtUp: catchUps.get(loanProjection.name)!,
    all: generations.projections.map((projection) => ({
      name: projection.name,
      tables: projection.tables,
      catchUp: catchUps.get(projection.name)!,
      place: () => store.checkpoint(projection),
    })),
    projectors,
    // A command beside an embedded service writes the same read model when it rebuilds it.
    progress: nearestProgress(loanProjector, new PolledProgress({ loans, sleep: pause, now }), now),
  };
};

/** Who makes an operation active, perhaps in another process, waits for its past due dates to show. */
const SWEEP_MS = 1_000;
const RENEGOTIATION_PAUSE_MS = 100;

/** Sleeps no longer than until the clock is moved: what fell due then is marked at once. */
const untilMoved =
  (clock: MovableClock | undefined) =>
  async (ms: number, signal: AbortSignal): Promise<void> => {
    const moved = new AbortController();
    const forget = clock?.onMoved(() => moved.abort());
    await pause(ms, AbortSignal.any([signal, moved.signal]));
    forget?.();
  };

export const schedulingOf = (parts: Parts): Parts['scheduling'] => {
  const { checkpoints, commands, renegotiation, readModelDatabase } = parts;
  const { eventStore, clock, movableClock, logger, observability } = parts;
  const following = (name: string) => ({
    subscription: observability.follower(name, throttled(eventStore, RENEGOTIATION_PAUSE_MS)),
    checkpoints,
    logger,
    sleep: pause,
  });
  const due = dueBefore.bind(undefined, readModelDatabase);
  // What cannot be marked is tried with every sweep.
  const unmarked = new LineAMinute((fields, message) => logger.warn(fields, message));
  const warn = (fields: object, message: string): void => unmarked.note(message, fields);
  const marking = { commands, dueBefore: due, clock, logger: { warn } };
  return {
    overdue: sweepOverdue.bind(undefined, {
      markOverdue: (signal) => markOverdue(marking, signal),
      watch: observability.metrics?.work,
      clock,
      logger,
      sleep: untilMoved(movableClock),
      interval: SWEEP_MS,
    }),
    recovery: renegotiation.recovery(following('renegotiation-recovery')),
    completion: renegotiation.completion(following('renegotiation-completion'), commands),
  };
};

/** How those stand that this thread's roles have follow the log for others to see. */
export const standingsOf = (parts: Parts) => {
  const { roles } = parts.configuration;
  const standings: (Status & {
    readonly role: Role;
    readonly work: string;
    /** What its quarantined operations wait for. */
    readonly waitsFor: string;
  })[] = [];
  const { projectors } = parts.readModels;
  for (const one of roles.includes('projector') ? projectors : [])
    standings.push({ ...one.status(), role: 'projector', work: `${one.name}-projector`, waitsFor: one.name });
  if (roles.includes('relay')) {
    const status = parts.relay.status();
    standings.push({ ...status, role: 'relay', work: 'relay', waitsFor: PUBLISHING });
  }
  return standings;
};

/** Work that must not run beside itself: a call during a run waits for a run of its own, which it may share. */
const oneAtATime = (work: () => Promise<void>): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= last =
      last
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return work();
        }));
};
