import type { BusinessClock } from '../../application/ports/clock.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { backupsOf } from '../../infrastructure/composition/data-directory.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { commandLine } from './command-line.ts';
import { RecordingLogger } from './recording-logger.ts';

/**
 * The command line in this process, over stores that each command opens as one of its own does, whether or not a service runs on them.
 * @param clock default: its own
 */
export const commandLineBeside = (
  environment: NodeJS.ProcessEnv,
  clock?: BusinessClock,
): ReturnType<typeof commandLine> =>
  commandLine(() => ({}), {
    open: async () => {
      const foundations = await openFoundations(readConfiguration(environment), new RecordingLogger());
      const parts = partsOf({ ...foundations, ...(clock && { clock }) });
      return { app: parts, close: () => foundations.close() };
    },
    backups: backupsOf(environment),
  });

/** The same on a data directory: what a command prints, or the failure with its exit code, as from a process of its own. */
export const receivablesOn =
  (dataDir: string) =>
  async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await commandLineBeside({ DATA_DIR: dataDir })(...args);
    if (code !== 0) throw Object.assign(new Error(err), { code });
    return out;
  };
