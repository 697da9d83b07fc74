import type { CliCommand } from './cli-command.ts';
import type { Finding } from '../../application/maintenance/service-status.ts';
import type { ServiceStatus } from '../../application/maintenance/service-status.ts';
import { asColumns, printedRows } from '../presenting/columns.ts';
import { whileRead, withService } from './command-line.ts';
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
