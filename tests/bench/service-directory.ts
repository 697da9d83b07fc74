import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeServiceData } from '../support/service-data.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A data directory as a service makes it, but without read models: the first command builds them. */
export const serviceDirectory = async (): Promise<string> => {
  const dataDir = temporaryDirectory();
  await makeServiceData(dataDir);
  for (const file of readdirSync(dataDir)) if (file.startsWith('read-model')) rmSync(join(dataDir, file));
  return dataDir;
};
