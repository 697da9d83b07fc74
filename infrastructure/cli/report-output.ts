import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { Rows } from '../presenting/columns.ts';
import { naming } from '../support/durable-files.ts';

const READABLE = 0o666;

/**
 * A file that is there as a whole or not at all; until then it has a name of its own, for another command may write the same.
 * @param mode default: what the process gives its files
 */
export const writeWhole = async (output: string, chunks: Rows<string>, mode = READABLE): Promise<void> => {
  const unfinished = `${output}.${randomUUID()}.unfinished`;
  const file = await open(unfinished, 'wx', mode);
  try {
    // Unlike `write`, all of it or an error.
    for await (const chunk of chunks) await naming(output, file.writeFile(chunk));
    await naming(output, file.sync());
    await file.close();
    await rename(unfinished, output);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
};
