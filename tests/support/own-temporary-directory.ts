import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** What a process that was told to end may take for it. */
const END_MS = 5_000;

/** Reads until this process is gone. `rm` fails where a dying process still makes a file. */
const GUARD = `trap '' INT TERM HUP; read _
started() { grep -lsza "^TMPDIR=$1" /proc/[0-9]*/environ | cut -d / -f 3; }
kill $(started "$1"); for _ in 1 2 3 4 5 6; do [ -z "$(started "$1")" ] && break; sleep 0.5; done; kill -KILL $(started "$1")
for _ in 1 2 3 4 5; do rm -rf "$1" && break; sleep 1; done`;

/**
 * From here on this process and those that it starts put aside what they need for a while in a directory of their own. However this process
 * ends, those that are left are ended, and the directory goes.
 */
export const ownTemporaryDirectory = (): void => {
  const path = mkdtempSync(join(tmpdir(), 'receivables-'));
  // A server or a service of another user finds its own directory in it.
  chmodSync(path, 0o711);
  const { TMPDIR: _, ...env } = process.env;
  const guard = spawn('sh', ['-c', GUARD, 'sh', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env,
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  process.env['TMPDIR'] = process.env['TESTS_TMPDIR'] = path;
};

const started = (path: string): readonly string[] => {
  const ofIt = (pid: string): boolean => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return environment.some((variable) => variable.startsWith(`TMPDIR=${path}`));
    } catch {
      return false;
    }
  };
  const processes = existsSync('/proc') ? readdirSync('/proc') : [];
  return processes.filter((name) => /^\d+$/.test(name) && ofIt(name));
};

/** Processes that were started with this temporary directory and do not end now; they are ended. */
export const leftRunning = async (path: string): Promise<readonly string[]> => {
  for (const deadline = Date.now() + END_MS; started(path).length > 0 && Date.now() < deadline;)
    await delay(50);
  return started(path).map((pid) => {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    process.kill(Number(pid), 'SIGKILL');
    return command;
  });
};
