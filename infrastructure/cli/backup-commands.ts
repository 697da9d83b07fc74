import type { CliCommand } from './cli-command.ts';
import { mebibytes } from '../presenting/columns.ts';
import { inOneLine } from '../presenting/terminal-text.ts';
import { DifferencesFoundError } from './command-line.ts';
import type { BackupSummary, CliDependencies, Progress } from './command-line.ts';
import { directory } from './path-options.ts';

const WITHOUT_KEY =
  'The master key is not in this backup: without it, signing keys, borrowers and documents cannot be read. Keep it apart, and keep it.\n';
const WITH_KEY = 'The master key is in this backup: whoever has the backup can read everything in it.\n';

export const addBackupCommands = (program: CliCommand): void => {
  const { dependencies } = program;
  const { backups } = dependencies;
  program
    .command('backup')
    .description('copy the data of the embedded profile while the service runs, and verify the copy')
    .requiredOption('--to <directory>', 'a new directory, or an empty one', directory('--to'))
    .option('--with-key', 'also the master key, where it is kept in DATA_DIR (sandbox)')
    .told(
      'Contains the event log, the service database and the documents; read models are built again from the log. Exit code 4 when it was\n' +
        'made and events of the log are damaged.',
      'backup --to /backups/2026-01-15',
    )
    .action(async ({ to, withKey = false }: { readonly to: string; readonly withKey?: boolean }) => {
      const summary = await stepping(dependencies, (onStep) => backups.write({ to, withKey, onStep }));
      dependencies.writeError(withKey ? WITH_KEY : WITHOUT_KEY);
      await print(dependencies, { backup: to }, summary);
      const damaged = damagedIn(summary);
      if (damaged !== undefined)
        throw new DifferencesFoundError(
          `${damaged}, in this backup as in the log; keep one from before, and see receivables audit verify`,
        );
    });
  program
    .command('restore')
    .description('put a backup into an empty data directory, verified before and after it is copied')
    .requiredOption('--from <directory>', 'what backup has written', directory('--from'))
    .requiredOption('--data-dir <directory>', 'a new directory, or an empty one', directory('--data-dir'))
    .told(
      'Start the service on it with the same master key; it builds the read models from the log.',
      'restore --from /backups/2026-01-15 --data-dir ./data',
    )
    .action(async ({ from, dataDir }: { readonly from: string; readonly dataDir: string }) => {
      const summary = await stepping(dependencies, (onStep) => backups.restore({ from, dataDir, onStep }));
      await print(dependencies, { restored: dataDir }, summary);
      const damaged = damagedIn(summary);
      if (damaged !== undefined) dependencies.writeError(`${damaged}, as when the backup was made\n`);
    });
};

const damagedIn = ({ damaged_events: damaged }: BackupSummary): string | undefined =>
  damaged &&
  `${damaged.length} event(s) are damaged, the first is event ${damaged[0]!.revision} of ${inOneLine(damaged[0]!.stream)}`;

const stepping = async (
  { startProgress }: Pick<CliDependencies, 'startProgress'>,
  work: (onStep: (done: number, total: number) => void) => Promise<BackupSummary>,
): Promise<BackupSummary> => {
  using shown = new DisposableStack();
  let progress: Progress | undefined;
  return await work((_, total) => (progress ??= shown.use(startProgress(total))).advance());
};

const print = async (
  dependencies: CliDependencies,
  what: object,
  { program_version, begun_at, log, master_key_contained, files, damaged_events: damaged }: BackupSummary,
): Promise<void> => {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const summary = {
    ...what,
    program_version,
    begun_at,
    log,
    files: files.length,
    bytes,
    size: mebibytes(bytes),
    master_key_contained,
    ...(damaged && { damaged_events: damaged.length }),
  };
  await dependencies.write(`${JSON.stringify({ ...summary, verified: true })}\n`);
};
