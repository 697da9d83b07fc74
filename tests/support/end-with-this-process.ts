import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** `rm` fails where the dying process still makes a file. */
const GUARD = `read _; kill -s "$1" "$2"
[ -z "$3" ] || for _ in 1 2 3 4 5 6 7 8 9; do rm -rf "$3" && break; sleep 1; done`;

/**
 * However this process ends, its end of the pipe closes, and the child gets the signal; then its directory goes, where one is named.
 */
export const endWithThisProcess = (child: ChildProcess, signal: 'KILL' | 'QUIT', directory = ''): void => {
  const guard = spawn('sh', ['-c', GUARD, 'sh', signal, String(child.pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  child.once('exit', () => guard.kill('SIGKILL'));
};

/** This process does not wait for the child's end to come to its own. */
export const letGo = (child: ChildProcess): void => {
  child.unref();
  for (const pipe of [child.stdout, child.stderr]) (pipe as Socket | null)?.unref();
};
