import { ContainerModule } from 'inversify';
import { AddDocuments } from '../../application/loans/add-documents.ts';
import { ProcessPrepayment } from '../../application/loans/process-prepayment.ts';
import { Quotes } from '../../application/loans/quotes.ts';
import { RequestRepurchase } from '../../application/loans/request-repurchase.ts';
import type { MovableClock } from '../../application/sandbox/movable-clock.ts';
import { MarkOverdueInstallments } from '../../application/scheduling/mark-overdue-installments.ts';
import { OverdueScheduler } from '../../application/scheduling/overdue-scheduler.ts';
import { pause } from '../support/time.ts';
import { TOKENS } from './tokens.ts';

/** An integrator that tries things out waits for a past due date to show; in production a day has begun for all at once. */
const SWEEP_MS = { sandbox: 1_000, production: 30_000 } as const;

/** Sleeps no longer than until the clock is moved: what fell due then is marked at once. */
const untilMoved =
  (clock: MovableClock | undefined) =>
  async (ms: number, signal: AbortSignal): Promise<void> => {
    const moved = new AbortController();
    const forget = clock?.onMoved(() => moved.abort());
    await pause(ms, AbortSignal.any([signal, moved.signal]));
    forget?.();
  };

/** What happens to operations after their assignment. */
export const postAssignmentModule = new ContainerModule(({ bind }) => {
  const { clock, logger, configuration, commands, borrowerVault } = TOKENS;

  bind(TOKENS.processPrepayment).toResolvedValue(
    (handler, events, vault, time, { environment }) =>
      new ProcessPrepayment({
        commands: handler,
        events,
        vault,
        clock: time,
        paymentDates: { allowFuture: environment === 'sandbox' },
      }),
    [commands, TOKENS.eventStore, borrowerVault, clock, configuration],
  );
  bind(TOKENS.requestRepurchase).toResolvedValue(
    (handler, vault, time) => new RequestRepurchase({ commands: handler, vault, clock: time }),
    [commands, borrowerVault, clock],
  );
  bind(TOKENS.quotes).toResolvedValue(
    (handler, time, { environment }) =>
      new Quotes({
        commands: handler,
        clock: time,
        paymentDates: { allowFuture: environment === 'sandbox' },
      }),
    [commands, clock, configuration],
  );
  bind(TOKENS.addDocuments).toResolvedValue(
    (handler, vault, documents, inspector, time) =>
      new AddDocuments({ commands: handler, vault, documents, inspector, clock: time }),
    [commands, borrowerVault, TOKENS.documents, TOKENS.inspector, clock],
  );
  bind(TOKENS.overdueScheduler).toResolvedValue(
    (handler, due, time, movable, log, { environment }, { sweep }) => {
      const markOverdue = new MarkOverdueInstallments({ commands: handler, due, clock: time, logger: log });
      return new OverdueScheduler({
        markOverdue: sweep(markOverdue),
        clock: time,
        logger: log,
        sleep: untilMoved(movable),
        interval: SWEEP_MS[environment],
      });
    },
    [
      commands,
      TOKENS.dueInstallments,
      clock,
      TOKENS.movableClock,
      logger,
      configuration,
      TOKENS.observability,
    ],
  );
});
