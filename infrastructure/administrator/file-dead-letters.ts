import { open } from 'node:fs/promises';
import { deadLetterText } from '../../application/administrator/decisions.ts';
import type { RefusedDecision } from '../../application/ports/decision-dead-letters.ts';
import { giveToOwner } from '../support/durable-files.ts';

/** A file of JSON lines that only grows; several processes may write to it, each line in one piece. */
export const fileDeadLetters = (path: string) => ({
  path,
  put: async (refused: RefusedDecision): Promise<void> => {
    // Opened for every line: refusals are rare, and an operator may move the file away at any time.
    const file = await open(path, 'a', 0o600);
    try {
      giveToOwner(path);
      await file.write(`${deadLetterText(refused)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
  },
});
