import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'receivables-console-';
/** Nothing that a file of this age says still opens anything. */
const STALE_MS = 3_600_000;

/** Leads to the address, and tells no page where from. The address as a URL writes it needs no escapes. */
const pageFor = ({ href, origin }: URL): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${href}">
<title>receivables console</title>
<p><a href="${href}">${origin}</a></p>
</html>
`;

/** What was left by a console that was killed. */
const removeStale = async (parent: string): Promise<void> => {
  const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX));
  for (const path of names.map((name) => join(parent, name))) {
    const { mtimeMs, uid } = await lstat(path);
    const own = uid === (process.getuid?.() ?? uid);
    if (own && Date.now() - mtimeMs > STALE_MS) await rm(path, { recursive: true });
  }
};

/** A directory that nobody else can look into, under a name that nobody can guess. */
const privateDirectory = async (): Promise<string> => {
  // A browser in a sandbox of its own (snap) reads what is not hidden of its user's files, and has another /tmp.
  for (const parent of [homedir(), tmpdir()]) {
    await removeStale(parent).catch(() => undefined);
    const made = await mkdtemp(join(parent, PREFIX)).catch(() => undefined);
    if (made !== undefined) return made;
  }
  throw new Error('there is no place for a private file');
};

/**
 * Puts the address into a file that its owner alone can read, and that leads there: what a process is started with, every user of the
 * machine can read.
 * @param until the file is gone once this is aborted
 * @returns where the file is
 */
export const handOver = async (address: string, until: AbortSignal): Promise<string> => {
  const directory = await privateDirectory();
  const remove = (): void => {
    try {
      rmSync(directory, { recursive: true });
    } catch {
      // The next console tries again; by then it opens nothing any more.
    }
  };
  until.addEventListener('abort', remove, { once: true });
  const file = join(directory, 'open.html');
  await writeFile(file, pageFor(new URL(address)), { flag: 'wx', mode: 0o600 });
  if (until.aborted) remove();
  return file;
};

/**
 * Opens an address in the browser of this machine, where there is one: on Linux, only with a display. No process is told the address.
 * @param until what it takes to do so is gone once this is aborted
 */
export const openBrowser = async (address: string, until: AbortSignal): Promise<void> => {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  if (process.platform === 'linux' && (DISPLAY ?? WAYLAND_DISPLAY ?? '') === '') return;
  const { default: open } = await import('open');
  // The address was printed, and a browser that does not start is no reason to end.
  const browser = await handOver(address, until).then(open, () => undefined);
  browser?.on('error', () => undefined);
};
