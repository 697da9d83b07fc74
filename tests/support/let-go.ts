import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** This process does not wait for the child's end to come to its own. */
export const letGo = (child: ChildProcess): void => {
  child.unref();
  for (const pipe of [child.stdout, child.stderr]) (pipe as Socket | null)?.unref();
};
