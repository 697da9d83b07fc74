import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeServiceData } from '../support/service-data.ts';

/** A data directory as a service makes it, but without read models: the first command builds them. */
export const serviceDirectory = async (name: string): Promise<string> => {
  const dataDir = mkdtempSync(join(tmpdir(), name));
  await makeServiceData(dataDir);
  for (const file of readdirSync(dataDir)) if (file.startsWith('read-model')) rmSync(join(dataDir, file));
  return dataDir;
};
