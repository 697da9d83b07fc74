import { SandboxAdministrator } from '../../../application/administrator/sandbox-administrator.ts';
import { CompleteRenegotiations } from '../../../application/renegotiation/complete-renegotiations.ts';
import { RecoverRenegotiations } from '../../../application/renegotiation/recover-renegotiations.ts';
import { SandboxClock } from '../../../application/sandbox/sandbox-clock.ts';
import type { MovableClock } from '../../../application/sandbox/sandbox-clock.ts';
import { MarkOverdueInstallments } from '../../../application/scheduling/mark-overdue-installments.ts';
import { OverdueScheduler } from '../../../application/scheduling/overdue-scheduler.ts';
import { SqlClockOffset } from '../../sql/coordination.ts';
import { SqlDueInstallments } from '../../sql/read-models/due-installments.ts';
import { pause, throttled } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import type { Administrator } from './administrator.ts';
import type { Commands } from './loans.ts';

/** An integrator that tries things out waits for a past due date to show; in production installments fall due together, when a day begins. */
const SWEEP_MS = { sandbox: 1_000, production: 30_000 } as const;
const ADMINISTRATOR_PAUSE_MS = 40;
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
  { engines, clock, movableClock, realClock, logger, configuration, observability }: Foundations,
  { checkpoints, events }: Adapters,
  { handler: commands, renegotiation }: Commands,
  { decisions }: Administrator,
) => {
  const follower = (name: string, pauseMs: number) =>
    observability.follower(name, throttled(engines.eventStore, pauseMs));
  const due = new SqlDueInstallments(engines.readModelDatabase);
  return {
    overdue: new OverdueScheduler({
      markOverdue: observability.sweep(new MarkOverdueInstallments({ commands, due, clock, logger })),
      clock,
      logger,
      sleep: untilMoved(movableClock),
      interval: SWEEP_MS[configuration.environment],
    }),
    recovery: new RecoverRenegotiations({
      resolving: renegotiation.resolving,
      subscription: follower('renegotiation-recovery', RENEGOTIATION_PAUSE_MS),
      checkpoints,
      realClock,
      logger,
      sleep: pause,
    }),
    completion: new CompleteRenegotiations({
      commands,
      events,
      subscription: follower('renegotiation-completion', RENEGOTIATION_PAUSE_MS),
      checkpoints,
      logger,
      sleep: pause,
    }),
    /** Decides in the administrator's place; only in a sandbox. */
    sandboxAdministrator: new SandboxAdministrator({
      decisions,
      events,
      subscription: follower('sandbox-administrator', ADMINISTRATOR_PAUSE_MS),
      checkpoints,
      clock,
      logger,
      sleep: pause,
      step: configuration.sandboxStep,
    }),
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
