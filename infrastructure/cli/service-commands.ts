import { InvalidArgumentError } from 'commander';
import type { App } from '../../application/app.ts';
import type { ClockMove } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import type { Finding, ServiceStatus } from '../../application/maintenance/service-status.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { asColumns, printedRows, mebibytes } from '../presenting/columns.ts';
import { inOneLine } from '../presenting/terminal-text.ts';
import type { CliCommand } from './cli-command.ts';
import {
  whileRead,
  withService,
  DifferencesFoundError,
  MOVE_TARGETS,
  NotAllowedError,
} from './command-line.ts';
import type { BackupSummary, CliDependencies, Progress, MoveTargets } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { directory } from './files.ts';
import { instantOption, spanOption } from './options.ts';
import { showObject } from './shown-object.ts';

const FINDING_COLUMNS = asColumns<Finding>(['check', 'state', 'detail']);

export const addStatusCommands = (program: CliCommand): void => {
  program
    .command('status')
    .description('whether the service runs: roles, engines, lag, operations by state and the longest wait')
    .reporting()
    .told('Exit code 1 when no service runs.', 'status')
    .action((_options: unknown, command: CliCommand) => showStatus(command));
  program
    .command('doctor')
    .description('look for what is wrong: where data lies, keys, permissions, clock, disk, engines, versions')
    .reporting()
    .told(
      'Each check is ok, warning or failed. Changes nothing. Exit code 1 when a check failed; a warning alone is 0.',
      'doctor',
    )
    .action((_options: unknown, command: CliCommand) => examine(command));
};

const showStatus = async (command: CliCommand): Promise<void> => {
  const status = await withService(command.dependencies, ({ maintenance }) => maintenance.status());
  await whileRead(() => showObject(command, present(status)));
  if (!status.running) throw new Error(`no service runs on ${status.place}`);
};

const present = ({ operations, followers, deliveriesWaiting, ...status }: ServiceStatus): object => ({
  running: status.running,
  place: status.place,
  found: status.found,
  operations_total: operations.reduce((sum, { operations: count }) => sum + count, 0),
  oldest_waiting_since: operations.flatMap(({ oldestSince }) => oldestSince ?? []).toSorted()[0] ?? null,
  webhooks_with_waiting_deliveries: deliveriesWaiting.webhooks,
  oldest_waiting_delivery_since: deliveriesWaiting.oldestSince,
  quarantined: status.quarantined,
  roles: status.roles,
  engines: status.engines,
  lag: followers.map(({ name, position, behind, atLeast, problem }) => ({
    follower: name,
    position,
    events_behind: behind,
    ...(atLeast && { at_least: true }),
    ...(problem !== undefined && { problem }),
  })),
  operations: operations.map(({ status: state, operations: count, oldestSince }) => ({
    status: state,
    operations: count,
    oldest_since: oldestSince,
  })),
});

const examine = async (command: CliCommand): Promise<void> => {
  const { dependencies } = command;
  const findings = await dependencies.examine();
  await whileRead(() => command.deliver((printing) => printedRows(FINDING_COLUMNS, findings, printing)));
  const failed = findings.filter(({ state }) => state === 'failed');
  if (failed.length > 0) throw new Error(failed.map(({ check, detail }) => `${check}: ${detail}`).join('; '));
};

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
      await printSummary(dependencies, { backup: to }, summary);
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
      await printSummary(dependencies, { restored: dataDir }, summary);
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

const printSummary = async (
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

const readTarget = (text: string, before: MoveTargets = {}): MoveTargets => {
  const [, name, url] = /^([a-z]+)=(.+)$/.exec(text) ?? [];
  const target = MOVE_TARGETS.find((one) => one === name);
  if (target === undefined || url === undefined)
    throw new InvalidArgumentError(`Write <engine>=<url>; engines are ${MOVE_TARGETS.join(', ')}.`);
  return { ...before, [target]: url };
};

export const addMigrateCommand = (program: CliCommand): void => {
  program
    .command('migrate')
    .description('move an embedded data directory into EventStoreDB, PostgreSQL and S3')
    .option<MoveTargets>(
      '--to <engine=url>',
      'may be repeated: eventstore=URL, database=URL, documents=URL (default: EVENTSTORE_URL, DATABASE_URL, S3_URL)',
      readTarget,
    )
    .addHelpText(
      'after',
      '\nDATA_DIR names what is moved. No service and no command may use it meanwhile, or afterwards: a file moved.json in it sees to that.\n' +
        'It is only read. The new engines have to be empty. If it is interrupted, give the same command again; it goes on where it stopped.\n' +
        'At the end every event, key, row and document is compared. Then start the service with the same MASTER_KEY on the new engines.\n' +
        'A URL may hold a password: in the environment nobody else can see it.\n' +
        '\nPrints {events, streams, claims, records, documents}.\n\nExamples:\n' +
        '  DATA_DIR=./data EVENTSTORE_URL=esdb://store:2113 DATABASE_URL=postgres://app:secret@db/receivables receivables migrate\n' +
        "  receivables migrate --to eventstore='esdb://localhost:2113?tls=false' --to database=postgres://localhost/receivables",
    )
    .action(({ to }: { readonly to?: MoveTargets }) => migrate(to ?? {}, program.dependencies));
};

const migrate = async (targets: MoveTargets, dependencies: CliDependencies): Promise<void> => {
  const move = await dependencies.openMove(targets);
  let result: object;
  try {
    using progress = dependencies.startProgress(await move.steps());
    result = await move.execute((steps) => progress.advance(steps));
  } finally {
    await move.close();
  }
  await dependencies.write(`${JSON.stringify(result)}\n`);
};

export const addUpgradeCommands = (program: CliCommand): void => {
  program
    .command('upgrade')
    .description('the change of processes that share their engines to this release')
    .told('', 'upgrade finish')
    .command('finish')
    .description('from now on store what only this release reads: no process of an earlier one runs any more')
    .told(
      'Until then file names and remarks are stored plainly, disbursements keep the price of an exit of before, an approved\n' +
        'operation cannot be rejected, no client can be limited, no fund named, the master key cannot be rotated and nothing stands in the\n' +
        'desk log. Processes follow within five seconds. It cannot be taken back. A service with an embedded engine does it by itself. Prints {finished}.',
      'upgrade finish',
    )
    .answering(async (services) => {
      await configuring(services, { decision: 'finish_upgrade' }, () => services.maintenance.finishUpgrade());
      return { finished: true };
    });
};

interface ClockOptions {
  /** Milliseconds. */
  readonly advance?: number;
  /** UTC, with milliseconds. */
  readonly to?: string;
}

export const addSandboxCommands = (program: CliCommand): void => {
  program
    .command('sandbox')
    .description('what only a sandbox has: in production every command of it is refused')
    .told('', 'sandbox clock --advance 30d')
    .command('clock')
    .description('show the time in which operations live, or move it forward for all applications')
    .option('--advance <duration>', 'by how much, such as 30d, 1h, 2m, 30s or 300ms', spanOption)
    .option('--to <time>', 'to which instant, such as 2026-03-01T12:00:00Z', instantOption)
    .reporting()
    .told(
      'Prints {now, offset_seconds}: the time, and how far it is ahead of the real one. It never goes back, and at most ten years\n' +
        'ahead: else exit code 3. Due dates, late days and times of events follow it; webhook retries, tokens and limits do not.',
      'sandbox clock --to 2026-03-01T12:00:00Z',
    )
    .refusing(({ advance, to }: ClockOptions) =>
      advance !== undefined && to !== undefined ? 'give --advance or --to, not both' : undefined,
    )
    .serving(async (services, { advance, to }: ClockOptions, command: CliCommand) => {
      const move: ClockMove | undefined =
        advance !== undefined ? { advanceMs: advance } : to === undefined ? undefined : { to };
      const moving = () => clock(services, move);
      const shown = move ? await configuring(services, { decision: 'move_clock' }, moving) : await moving();
      await showObject(command, shown);
    });
};

const clock = async ({ maintenance }: App, move: ClockMove | undefined): Promise<object> => {
  const { sandboxClock } = maintenance;
  if (!sandboxClock) throw new NotAllowedError('production has no clock that can be moved');
  try {
    const { now, offsetMs } = await (move ? sandboxClock.move(move) : sandboxClock.show());
    return { now, offset_seconds: offsetMs / 1_000 };
  } catch (error) {
    throw error instanceof DomainError ? new NotAllowedError(error.message, { cause: error }) : error;
  }
};
