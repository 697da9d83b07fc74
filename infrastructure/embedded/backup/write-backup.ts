import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EVENT_LOG_FILE } from '../../sqlite/event-log/event-log-threads.ts';
import {
  brokenLinks,
  checkIntegrity,
  copyDatabase,
  ensureCopied,
  extentOf,
  forgottenSince,
  takeLaterKeys,
} from './databases.ts';
import {
  BackupFailedError,
  checkFiles,
  copyDurably,
  describeFile,
  filesBelow,
  isMountPoint,
  namesIn,
  placeOf,
  readManifest,
  writeManifest,
  oneAtATime,
} from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { makeDirectory, sync } from '../../support/durable-files.ts';
import { pause } from '../../support/time.ts';

const SERVICE_DATABASE_FILE = 'service.db';
export const MASTER_KEY_FILE = 'master.key';
/** While the key is rotated. */
const PREVIOUS_KEY_FILE = 'master.key.previous';
const DOCUMENTS = 'documents';
const DEAD_LETTERS = 'administrator-decisions.dead-letter.jsonl';

/** How far it is; `done` of `total` are steps of about equal work. */
export type OnStep = (done: number, total: number) => void;

interface BackupRequest {
  readonly dataDir: string;
  /** A directory that does not exist yet, or an empty one. */
  readonly to: string;
  readonly withKey: boolean;
  readonly programVersion: string;
  readonly now: () => string;
  readonly onStep: OnStep;
}

const refuseTarget = async (dataDir: string, to: string): Promise<void> => {
  if (`${to}/`.startsWith(`${await placeOf(dataDir)}/`))
    throw new BackupFailedError('a backup inside the data directory would be lost with it');
  if (await isMountPoint(to))
    throw new BackupFailedError(
      `${to} is a mount point, which no finished backup can replace: name a directory in it`,
    );
  if (((await namesIn(to)) ?? []).length > 0) throw new BackupFailedError(`${to} is not empty`);
  const there = (await namesIn(dataDir)) ?? [];
  for (const file of [EVENT_LOG_FILE, SERVICE_DATABASE_FILE])
    if (!there.includes(file)) throw new BackupFailedError(`${dataDir} holds no ${file}`);
};

/** @returns those that were there */
const copyFiles = async (dataDir: string, draft: string, paths: readonly string[]): Promise<string[]> => {
  const copied: string[] = [];
  for (const path of paths) if (await copyDurably(join(dataDir, path), join(draft, path))) copied.push(path);
  return copied;
};

const copyKeys = async (dataDir: string, draft: string): Promise<readonly string[]> => {
  const copied = await copyFiles(dataDir, draft, [MASTER_KEY_FILE, PREVIOUS_KEY_FILE]);
  if (!copied.includes(MASTER_KEY_FILE))
    throw new BackupFailedError(`${dataDir} holds no ${MASTER_KEY_FILE}: the master key is kept elsewhere`);
  return copied;
};

const MOST_PASSES = 10;
const LONGER_EACH_PASS_MS = 1_000;

/**
 * The service's database first: its copy then knows of no event that the copy of the log lacks. Where a borrower was forgotten while the
 * rest was copied, its key or its documents may be gone without the event that says why: then the rest is copied once more.
 */
const copyAll = async (request: BackupRequest, draft: string): Promise<readonly string[]> => {
  const [log, copy] = [join(request.dataDir, EVENT_LOG_FILE), join(draft, EVENT_LOG_FILE)];
  copyDatabase(join(request.dataDir, SERVICE_DATABASE_FILE), join(draft, SERVICE_DATABASE_FILE));
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    await rm(copy, { force: true });
    const copied = await copyRest(request, draft);
    if (!forgottenSince(copy, log)) return copied;
    await pause(pass * LONGER_EACH_PASS_MS);
  }
  throw new BackupFailedError(
    'borrowers were forgotten all the while that the data was copied: run the backup again when that is done',
  );
};

/**
 * The log, then the keys of what it has got since the service's database was copied. The master key stands between both looks at the
 * database, which tell that it was not rotated meanwhile. Documents are stored before their events, so they come last.
 */
const copyRest = async ({ dataDir, withKey }: BackupRequest, draft: string): Promise<readonly string[]> => {
  const [events, service] = [EVENT_LOG_FILE, SERVICE_DATABASE_FILE];
  copyDatabase(join(dataDir, events), join(draft, events));
  const keys = withKey ? await copyKeys(dataDir, draft) : [];
  takeLaterKeys(join(draft, service), join(dataDir, service));
  for (const file of [events, service]) {
    await chmod(join(draft, file), 0o600);
    await sync(join(draft, file));
  }
  const documents = await copyDocuments(dataDir, draft);
  return [events, service, ...documents, ...(await copyFiles(dataDir, draft, [DEAD_LETTERS])), ...keys];
};

/** One never changes, so those of an earlier pass stay, but for what was removed since. */
const copyDocuments = async (dataDir: string, draft: string): Promise<readonly string[]> => {
  const [there, before] = [await filesBelow(dataDir, DOCUMENTS), await filesBelow(draft, DOCUMENTS)];
  const kept = new Set(there).intersection(new Set(before));
  for (const path of before) if (!kept.has(path)) await rm(join(draft, path));
  const copied = await copyFiles(
    dataDir,
    draft,
    there.filter((path) => !kept.has(path)),
  );
  return [...kept, ...copied];
};

/** Everything that a restore would look at, checked before the backup is reported as made. */
export const checkBackup = async (
  root: string,
  onStep: () => void,
  damagedIn = brokenLinks,
): Promise<Manifest> => {
  const manifest = await readManifest(root);
  await checkFiles(root, manifest);
  onStep();
  for (const file of [EVENT_LOG_FILE, SERVICE_DATABASE_FILE]) {
    if (!manifest.files.some(({ path }) => path === file))
      throw new BackupFailedError(`the backup lacks ${file}`);
    checkIntegrity(join(root, file));
    onStep();
  }
  const known = new Set((manifest.damaged_events ?? []).map((one) => JSON.stringify(one)));
  const damaged = damagedIn(join(root, EVENT_LOG_FILE)).find((one) => !known.has(JSON.stringify(one)));
  if (damaged)
    throw new BackupFailedError(
      `event ${damaged.revision} of ${damaged.stream} does not follow from the one before`,
    );
  const extent = extentOf(join(root, EVENT_LOG_FILE));
  if (JSON.stringify(extent) !== JSON.stringify(manifest.log))
    throw new BackupFailedError('the log does not end where the manifest says');
  onStep();
  return manifest;
};

const STEPS = 6;

const draftOf = (to: string): string => join(dirname(to), `.${basename(to)}.partial`);

const LOCK_OF_DRAFT = /^\.(.+)\.partial\.lock$/;
const ABANDONED_AFTER_MS = 86_400_000;

/**
 * What backups to other names left beside this one when they were killed: it may hold keys, and nobody would look for it. What cannot be
 * removed, as where another process works on it, stays.
 */
const removeAbandoned = async (directory: string): Promise<void> => {
  for (const name of (await namesIn(directory)) ?? []) {
    const [, to] = LOCK_OF_DRAFT.exec(name) ?? [];
    if (to === undefined) continue;
    const [lock, draft] = [join(directory, name), draftOf(join(directory, to))];
    try {
      if ((await stat(lock)).mtimeMs > Date.now() - ABANDONED_AFTER_MS) continue;
      await oneAtATime(lock, `${draft} is in use`, () => rm(draft, { recursive: true, force: true }));
    } catch {
      continue;
    }
  }
};

/** A consistent backup of the embedded profile while it runs. It gets its name once it is whole and verified. @throws BackupFailedError */
export const writeBackup = async (request: BackupRequest): Promise<Manifest> => {
  const { dataDir } = request;
  const to = await placeOf(request.to);
  await refuseTarget(dataDir, to);
  const draft = draftOf(to);
  await makeDirectory(dirname(draft));
  return oneAtATime(`${draft}.lock`, `another backup to ${to} is being made`, async () => {
    await refuseTarget(dataDir, to);
    await rm(draft, { recursive: true, force: true });
    await removeAbandoned(dirname(draft));
    try {
      const manifest = await writeDraft(request, draft);
      await rename(draft, to);
      await sync(dirname(draft));
      return manifest;
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  });
};

/** Whole, verified and on disk when it resolves. */
const writeDraft = async (request: BackupRequest, draft: string): Promise<Manifest> => {
  const { programVersion, now } = request;
  await mkdir(draft, { mode: 0o700 });
  let done = 0;
  const step = (): void => request.onStep((done += 1), STEPS);
  const begun = now();
  const paths = await copyAll(request, draft);
  step();
  const files = [];
  for (const path of paths) files.push(await describeFile(draft, path));
  // What is damaged where it was copied from is no reason to leave all the rest without a backup.
  const damaged = brokenLinks(join(draft, EVENT_LOG_FILE));
  ensureCopied(join(draft, EVENT_LOG_FILE), join(request.dataDir, EVENT_LOG_FILE), damaged);
  await writeManifest(draft, {
    program_version: programVersion,
    begun_at: begun,
    finished_at: now(),
    log: extentOf(join(draft, EVENT_LOG_FILE)),
    master_key_contained: paths.includes(MASTER_KEY_FILE),
    ...(damaged.length > 0 && { damaged_events: damaged }),
    files,
  });
  step();
  const manifest = await checkBackup(draft, step, () => damaged);
  await sync(draft);
  return manifest;
};
