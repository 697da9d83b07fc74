import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Rows } from '../presenting/columns.ts';
import { naming } from '../support/durable-files.ts';

const READABLE = 0o666;
const INTERRUPTIONS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** An interruption removes it and goes on to end the process, unless a command ends in order by itself. Answers how to let go of it. */
const removedWhenInterrupted = (path: string): (() => void) => {
  const left = INTERRUPTIONS.filter((signal) => process.listenerCount(signal) === 0);
  const letGo = (): void => left.forEach((signal) => void process.off(signal, end));
  const end = (signal: NodeJS.Signals): void => {
    letGo();
    rmSync(path, { force: true });
    process.kill(process.pid, signal);
  };
  for (const signal of left) process.on(signal, end);
  return letGo;
};

/**
 * A file that is there as a whole or not at all; until then it has a name of its own, for another command may write the same.
 * @param mode default: what the process gives its files
 */
export const writeWhole = async (output: string, chunks: Rows<string>, mode = READABLE): Promise<void> => {
  const unfinished = `${output}.${randomUUID()}.unfinished`;
  const letGo = removedWhenInterrupted(unfinished);
  try {
    {
      await using file = await open(unfinished, 'wx', mode);
      // Unlike `write`, all of it or an error.
      for await (const chunk of chunks) await naming(output, file.writeFile(chunk));
      await naming(output, file.sync());
    }
    await rename(unfinished, output);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    letGo();
  }
};
