import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EVENT_LOG_FILE } from '../../sqlite/event-log/event-log-threads.ts';
import {
  BackupFailedError,
  MANIFEST_FILE,
  copyDurably,
  namesIn,
  readManifest,
  oneAtATime,
} from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { checkBackup } from './write-backup.ts';
import type { OnStep } from './write-backup.ts';
import { giveToOwner, makeDirectory, sync } from '../../support/durable-files.ts';

interface RestoreRequest {
  readonly from: string;
  /** A data directory that does not exist yet, or an empty one. */
  readonly dataDir: string;
  readonly onStep: OnStep;
}

/** There from the beginning of a restore to its end. */
export const RESTORE_DRAFT = '.restoring';
/** The lock of a restore, with what SQLite keeps beside it, and what file systems keep at their top. */
const NO_CONTENT = /^(\.restoring\.lock(-journal)?|lost\+found)$/;
const LOCK_FILE = '.restoring.lock';
const STEPS = 9;

const topLevel = ({ files }: Manifest): readonly string[] => {
  const names = new Set(files.map(({ path }) => path.split('/', 1)[0]!));
  // The log comes last: without it there is nothing that a service would take for its data.
  names.delete(EVENT_LOG_FILE);
  return [...names, EVENT_LOG_FILE];
};

/** What an interrupted restore left is no content: a service that had used the directory would have left more. */
const refuseTarget = async (dataDir: string, manifest: Manifest): Promise<readonly string[]> => {
  const there = (await namesIn(dataDir)) ?? [];
  const interrupted = there.includes(RESTORE_DRAFT);
  const left = interrupted ? topLevel(manifest).filter((name) => there.includes(name)) : [];
  if (there.some((name) => !NO_CONTENT.test(name) && ![RESTORE_DRAFT, ...left].includes(name)))
    throw new BackupFailedError(`${dataDir} is not empty: a restore never mixes with what is there`);
  return left;
};

/** Verifies a backup, copies it, verifies the copy, and only then puts it in place. @throws BackupFailedError */
export const restoreBackup = async ({ from, dataDir, onStep }: RestoreRequest): Promise<Manifest> => {
  await refuseTarget(dataDir, await readManifest(from));
  let done = 0;
  const step = (): void => onStep((done += 1), STEPS);
  const manifest = await checkBackup(from, step);
  await makeDirectory(dataDir);
  await oneAtATime(join(dataDir, LOCK_FILE), `another restore to ${dataDir} is going on`, async () => {
    const draft = join(dataDir, RESTORE_DRAFT);
    // The draft goes last and comes first, so that what lies there is never taken for more than a part.
    for (const name of await refuseTarget(dataDir, manifest))
      await rm(join(dataDir, name), { recursive: true, force: true });
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { mode: 0o700 });
    for (const path of [...manifest.files.map((file) => file.path), MANIFEST_FILE])
      if (!(await copyDurably(join(from, path), join(draft, path))))
        throw new BackupFailedError(`${path} disappeared from the backup`);
    step();
    await checkBackup(draft, step);
    for (const name of ['', ...(await readdir(draft, { recursive: true }))]) giveToOwner(join(draft, name));
    for (const name of topLevel(manifest)) await rename(join(draft, name), join(dataDir, name));
    await rm(draft, { recursive: true, force: true });
    await sync(dataDir);
  });
  await sync(dirname(dataDir));
  return manifest;
};
