import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory of its own, with the function that removes it. */
export const temporaryDirectory = async (): Promise<{ readonly path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), 'receivables-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
};
