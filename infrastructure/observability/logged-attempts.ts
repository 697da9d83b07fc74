import type { AttemptWatch, WatchedAttempt } from '../../application/ports/observation.ts';
import type { Logger } from '../../application/ports/logger.ts';

/** A line for each attempt that failed: at `debug`, because a receiver that is down would fill a disk. */
export class LoggedAttempts implements AttemptWatch {
  readonly #next: AttemptWatch;
  readonly #logger: Logger;

  constructor(next: AttemptWatch, logger: Logger) {
    this.#next = next;
    this.#logger = logger;
  }

  attempted(attempt: WatchedAttempt): void {
    this.#next.attempted(attempt);
    if (attempt.outcome === 'delivered') return;
    const { delivery, reason, status, startedAt, endedAt } = attempt;
    this.#logger.debug(
      {
        webhook_id: delivery.endpoint.webhookId,
        delivery_id: delivery.deliveryId,
        event_id: delivery.event.eventId,
        attempt: delivery.attempt,
        reason,
        status,
        duration_ms: endedAt - startedAt,
      },
      'delivery attempt failed',
    );
  }
}
