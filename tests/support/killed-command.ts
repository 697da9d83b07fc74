import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs a command of the command line on a data directory and kills it as soon as the condition holds; false when it ended before. */
export const killedCommand = async (
  dataDir: string,
  args: readonly string[],
  condition: () => boolean,
  environment: NodeJS.ProcessEnv = {},
): Promise<boolean> => {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts', ...args],
    {
      cwd: root,
      env: { ...process.env, DATA_DIR: dataDir, NODE_OPTIONS: '', ...environment },
      stdio: 'ignore',
    },
  );
  const exited = once(child, 'exit');
  while (child.exitCode === null && !condition()) await new Promise((resolve) => setTimeout(resolve, 2));
  child.kill('SIGKILL');
  await exited;
  return child.signalCode === 'SIGKILL';
};
