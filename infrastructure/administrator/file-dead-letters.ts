import { open } from 'node:fs/promises';
import { deadLetterText } from '../../application/administrator/decisions.ts';
import type { DecisionDeadLetters, RefusedDecision } from '../../application/ports/decision-dead-letters.ts';
import { giveToOwner } from '../support/durable-files.ts';

/** A file of JSON lines that only grows; several processes may write to it, each line in one piece. */
export class FileDeadLetters implements DecisionDeadLetters {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  async put(refused: RefusedDecision): Promise<void> {
    // Opened for every line: refusals are rare, and an operator may move the file away at any time.
    const file = await open(this.path, 'a', 0o600);
    try {
      giveToOwner(this.path);
      await file.write(`${deadLetterText(refused)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}
