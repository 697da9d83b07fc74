import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

/** Who acts: client ids are without number, so all of them are `client`. */
export type CommandRole = 'client' | 'administrator' | 'scheduler';

export type CommandOutcome =
  /** Something happened and is stored. */
  | 'stored'
  /** It was so already. */
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
