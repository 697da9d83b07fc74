import { randomBytes } from 'node:crypto';
import type { Reconciliation } from '../../application/reconciliation/reconciliation.ts';

export interface KeptStatement {
  readonly id: string;
  readonly name: string;
  readonly bytes: Buffer;
  /** The last comparison with it. */
  compared?: Reconciliation;
}

const MOST_KEPT = 4;

/** Statements that were uploaded, in memory alone: nothing of them is on a disk, and the end of the console is theirs too. */
export class KeptStatements {
  readonly #kept = new Map<string, KeptStatement>();

  /** The oldest one goes when there are too many. */
  keep(name: string, bytes: Buffer): KeptStatement {
    const statement = { id: randomBytes(16).toString('base64url'), name, bytes };
    this.#kept.set(statement.id, statement);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest!);
    return statement;
  }

  /** Undefined for one that has gone. */
  find(id: string): KeptStatement | undefined {
    return this.#kept.get(id);
  }
}
