import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** Sweeps of the scheduler, and decisions that could not be carried out. */
export class WorkMetrics {
  readonly #sweeps: Counter<'outcome'>;
  readonly #marked: Counter;
  readonly #lastSweep: Gauge;
  readonly #deadLetters: Counter<'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#sweeps = new Counter({
      name: 'receivables_overdue_sweeps_total',
      help: 'Sweeps for installments that fell due.',
      labelNames: ['outcome'],
      registers,
    });
    this.#marked = new Counter({
      name: 'receivables_overdue_marked_total',
      help: 'Installments that became overdue.',
      registers,
    });
    this.#lastSweep = new Gauge({
      name: 'receivables_overdue_last_sweep_timestamp_seconds',
      help: 'When a sweep of this process last succeeded; absent before the first.',
      registers,
    });
    // A process without the scheduler must not look like one whose last sweep was in 1970.
    this.#lastSweep.remove();
    this.#deadLetters = new Counter({
      name: 'receivables_decision_dead_letters_total',
      help: 'Decisions of the administrator that were refused for good, by the rule that refused them.',
      labelNames: ['reason'],
      registers,
    });
  }

  swept(marked: number): void {
    this.#sweeps.inc({ outcome: 'done' });
    this.#marked.inc(marked);
    this.#lastSweep.set(Date.now() / 1_000);
  }

  sweepFailed(): void {
    this.#sweeps.inc({ outcome: 'failed' });
  }

  deadLetter(reason: string): void {
    this.#deadLetters.inc({ reason });
  }
}
