import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** Who acts: client ids are without number, so all of them are `client`. */
export type CommandRole = 'client' | 'administrator' | 'scheduler';

export type CommandOutcome =
  /** Something happened and is stored. */
  | 'stored'
  /** The operation was already as the command wants it. */
  | 'unchanged'
  /** Its idempotency key had been used by the same request. */
  | 'replayed'
  /** A rule said no. */
  | 'refused'
  /** The store did not say, even after retries. */
  | 'unknown'
  | 'unavailable'
  | 'failed';

export class CommandMetrics {
  readonly #commands: Counter<'role' | 'outcome'>;
  readonly #refusals: Counter<'role' | 'code'>;

  constructor(registry: Registry) {
    this.#commands = new Counter({
      name: 'receivables_commands_total',
      help: 'Commands on operations, by who acted and what came of it.',
      labelNames: ['role', 'outcome'],
      registers: [registry],
    });
    this.#refusals = new Counter({
      name: 'receivables_command_refusals_total',
      help: 'Commands that a rule refused, by its code.',
      labelNames: ['role', 'code'],
      registers: [registry],
    });
  }

  handled(role: CommandRole, outcome: CommandOutcome): void {
    this.#commands.inc({ role, outcome });
  }

  refused(role: CommandRole, code: string): void {
    this.handled(role, 'refused');
    this.#refusals.inc({ role, code });
  }
}

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Label of requests that match no published operation: paths are the caller's choice and would be without number. */
const UNMATCHED = 'unmatched';
/** The caller was gone before there was an answer. */
const GONE = 'gone';

export class RequestMetrics {
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #duration: Histogram<'operation'>;

  constructor(registry: Registry) {
    this.#requests = new Counter({
      name: 'receivables_http_requests_total',
      help: 'Requests by published operation and status of the answer.',
      labelNames: ['operation', 'status'],
      registers: [registry],
    });
    this.#duration = new Histogram({
      name: 'receivables_http_request_duration_seconds',
      help: 'From the arrival of the headers to the answer.',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  answered(operation: string = UNMATCHED, status: number | undefined, seconds: number): void {
    this.#requests.inc({ operation, status: status === undefined ? GONE : String(status) });
    this.#duration.observe({ operation }, seconds);
  }
}

/** Sweeps of the scheduler, decisions that could not be carried out, keys that are lost, and files that could not be checked. */
export class WorkMetrics {
  readonly #sweeps: Counter<'outcome'>;
  readonly #marked: Counter;
  readonly #lastSweep: Gauge;
  readonly #deadLetters: Counter<'reason'>;
  readonly #missingKeys: Counter;
  readonly #inspectorAway: Counter;

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
    this.#missingKeys = new Counter({
      name: 'receivables_missing_keys_total',
      help: 'How often the key of an operation was needed and was lost: it is gone, and no borrower was forgotten there.',
      registers,
    });
    this.#inspectorAway = new Counter({
      name: 'receivables_uncheckable_files_total',
      help: 'Uploaded files that could not be checked, because the process that reads PDFs did not start.',
      registers,
    });
  }

  inspectorAway(): void {
    this.#inspectorAway.inc();
  }

  keyMissing(): void {
    this.#missingKeys.inc();
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
