import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EVENT_LOG_FILE } from '../../sqlite/event-log/event-log-threads.ts';
import { BackupFailedError, MANIFEST_FILE, copyDurably, namesIn } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { checkBackup } from './write-backup.ts';
import type { OnStep } from './write-backup.ts';
import { sync } from '../../support/durable-files.ts';

export interface RestoreRequest {
  readonly from: string;
  /** A data directory that does not exist yet, or an empty one. */
  readonly dataDir: string;
  readonly onStep: OnStep;
}

const DRAFT = '.restoring';
const STEPS = 9;

/** What an interrupted restore left is no content. */
const refuseTarget = async (dataDir: string): Promise<void> => {
  const content = ((await namesIn(dataDir)) ?? []).filter((name) => name !== DRAFT);
  if (content.length > 0)
    throw new BackupFailedError(`${dataDir} is not empty: a restore never mixes with what is there`);
};

const topLevel = ({ files }: Manifest): readonly string[] => {
  const names = new Set(files.map(({ path }) => path.split('/', 1)[0]!));
  // The log comes last: without it there is nothing that a service would take for its data.
  names.delete(EVENT_LOG_FILE);
  return [...names, EVENT_LOG_FILE];
};

/** Verifies a backup, copies it, verifies the copy, and only then puts it in place. @throws BackupFailedError */
export const restoreBackup = async ({ from, dataDir, onStep }: RestoreRequest): Promise<Manifest> => {
  await refuseTarget(dataDir);
  let done = 0;
  const step = (): void => onStep((done += 1), STEPS);
  const manifest = await checkBackup(from, step);
  const draft = join(dataDir, DRAFT);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  for (const path of [...manifest.files.map((file) => file.path), MANIFEST_FILE])
    if (!(await copyDurably(join(from, path), join(draft, path))))
      throw new BackupFailedError(`${path} disappeared from the backup`);
  step();
  await checkBackup(draft, step);
  for (const name of topLevel(manifest)) await rename(join(draft, name), join(dataDir, name));
  await rm(draft, { recursive: true, force: true });
  await sync(dataDir);
  await sync(dirname(dataDir));
  return manifest;
};
