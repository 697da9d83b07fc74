import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { deadLetterText } from '../../application/administrator/decisions.ts';
import type { RefusedDecision } from '../../application/administrator/decisions.ts';
import { giveToOwner, naming } from '../support/durable-files.ts';

/** Whether there was no room for the whole of the last line. */
const endsInALine = async (file: FileHandle): Promise<boolean> => {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() !== '\n';
};

/** A file of JSON lines that only grows; several processes may write to it, each line in one piece. */
export const fileDeadLetters = (path: string) => ({
  path,
  put: async (refused: RefusedDecision): Promise<void> => {
    // Opened for every line: refusals are rare, and an operator may move the file away at any time.
    const file = await open(path, 'a+', 0o600);
    try {
      giveToOwner(path);
      const begin = (await endsInALine(file)) ? '\n' : '';
      // Unlike `write`, all of it or an error.
      await naming(path, file.writeFile(`${begin}${deadLetterText(refused)}\n`));
      // A device, such as /dev/null, or a pipe has nothing to be synced, and says so.
      if ((await file.stat()).isFile()) await file.datasync();
    } finally {
      await file.close();
    }
  },
});
