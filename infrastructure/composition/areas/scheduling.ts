import { SandboxClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import type { MovableClock } from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import { MarkOverdueInstallments } from '../../../application/loans/overdue/mark-overdue-installments.ts';
import { OverdueScheduler } from '../../../application/loans/overdue/overdue-scheduler.ts';
import { SqlClockOffset } from '../../../application/maintenance/sandbox/clock-offset.ts';
import { SqlDueInstallments } from '../../../application/loans/due-installments.ts';
import { pause, throttled } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import type { Commands } from './loans.ts';

/** An integrator that tries things out waits for a past due date to show; in production installments fall due together, when a day begins. */
const SWEEP_MS = { sandbox: 1_000, production: 30_000 } as const;
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

/** What acts on operations by itself, in the course of time or after an event. */
export const schedulingArea = (
  { engines, clock, movableClock, logger, configuration, observability }: Foundations,
  { checkpoints }: Adapters,
  { handler: commands, renegotiation }: Commands,
) => {
  const following = (name: string) => ({
    subscription: observability.follower(name, throttled(engines.eventStore, RENEGOTIATION_PAUSE_MS)),
    checkpoints,
    logger,
    sleep: pause,
  });
  const due = new SqlDueInstallments(engines.readModelDatabase);
  return {
    overdue: new OverdueScheduler({
      markOverdue: new MarkOverdueInstallments({ commands, due, clock, logger }),
      watch: observability.metrics?.work,
      clock,
      logger,
      sleep: untilMoved(movableClock),
      interval: SWEEP_MS[configuration.environment],
    }),
    recovery: renegotiation.recovery(following('renegotiation-recovery')),
    completion: renegotiation.completion(following('renegotiation-completion'), commands),
  };
};

export type Scheduling = ReturnType<typeof schedulingArea>;

/** Undefined in production. */
export const sandboxClockOf = ({
  engines,
  movableClock,
  realClock,
  logger,
}: Foundations): SandboxClock | undefined =>
  movableClock &&
  new SandboxClock({
    clock: movableClock,
    realClock,
    offset: new SqlClockOffset(engines.serviceDatabase, realClock),
    logger,
    sleep: pause,
  });
