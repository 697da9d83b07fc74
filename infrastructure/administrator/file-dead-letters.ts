import { open } from 'node:fs/promises';
import type { DecisionDeadLetters, RefusedDecision } from '../../application/ports/decision-source.ts';

/** A file of JSON lines that only grows; several processes may write to it, each line in one piece. */
export class FileDeadLetters implements DecisionDeadLetters {
  readonly #path: string;
  readonly #textOf: (refused: RefusedDecision) => string;

  /** @param textOf one line of JSON */
  constructor(path: string, textOf: (refused: RefusedDecision) => string) {
    this.#path = path;
    this.#textOf = textOf;
  }

  async put(refused: RefusedDecision): Promise<void> {
    // Opened for every line: refusals are rare, and an operator may move the file away at any time.
    const file = await open(this.#path, 'a', 0o600);
    try {
      await file.write(`${this.#textOf(refused)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}
