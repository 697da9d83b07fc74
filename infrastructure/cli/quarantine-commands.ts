import type { Command } from 'commander';
import { loanStream, parseLoanStream } from '../../application/command-handling/operation.ts';
import type { QuarantinedOperation } from '../../application/quarantine/quarantined-operations.ts';
import type { CliServices } from './cli-services.ts';
import type { Column } from './columns.ts';
import { CommandFailedError, NotAllowedError, WrongUseError, answer } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { listRows, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { applicationOf } from './scope.ts';

const operationOf = ({ stream }: QuarantinedOperation) => parseLoanStream(stream);

const COLUMNS: readonly Column<QuarantinedOperation>[] = [
  { name: 'application_id', of: (row) => operationOf(row)?.applicationId },
  { name: 'originator_proposal_code', of: (row) => operationOf(row)?.code },
  { name: 'waits_for', of: (row) => row.waitsFor },
  { name: 'revision', of: (row) => Number(row.revision) },
  { name: 'event_type', of: (row) => row.eventType },
  { name: 'reason', of: (row) => row.reason },
];

/** `quarantine list` and `quarantine release`. */
export const addQuarantineCommands = (program: Command, dependencies: CliDependencies): void => {
  const quarantine = program
    .command('quarantine')
    .description('operations that wait because one of their events cannot be read, projected or published')
    .addHelpText('after', '\nExample:\n  receivables quarantine list');
  const list = quarantine
    .command('list')
    .description('which operations wait, for which read model or for being published, and why');
  withReportOptions(list, dependencies)
    .addHelpText('after', '\nExample:\n  receivables quarantine list -o json')
    .action((options: ReportOptions) =>
      listRows(dependencies, options, COLUMNS, async function* ({ quarantine: service }) {
        yield* await service.list();
      }),
    );
  quarantine
    .command('release')
    .description('take in and publish what waits of an operation, in its order, with a program that can')
    .argument('<code>', 'originator_proposal_code')
    .option('--application <id|name>', 'whose operation; needed when several that wait have the code')
    .addHelpText(
      'after',
      '\nPrints {originator_proposal_code, releases}. What cannot be taken yet goes on waiting, and the command ends with 1. An operation\n' +
        'that does not wait ends with 3.\n\nExample:\n  receivables quarantine release OP-2026-000123',
    )
    .action(async (code: string, { application }: { readonly application?: string }) => {
      let waits: string | undefined;
      await answer(dependencies, async (services) => {
        const stream = await streamOf(services, code, application);
        const releases = await services.quarantine.release(stream);
        waits = releases.find(({ outcome }) => outcome === 'still_waits')?.reason;
        return {
          originator_proposal_code: code,
          releases: releases.map(({ waitsFor: waits_for, ...rest }) => ({ waits_for, ...rest })),
        };
      });
      if (waits !== undefined) throw new CommandFailedError(`${code} goes on waiting: ${waits}`);
    });
};

/** @throws NotAllowedError no such operation waits @throws WrongUseError several do */
const streamOf = async (services: CliServices, code: string, application?: string): Promise<string> => {
  const own = application === undefined ? undefined : await applicationOf(services, application);
  const waiting = (await services.quarantine.list())
    .map((entry) => operationOf(entry))
    .filter((one) => one?.code === code && (own === undefined || one.applicationId === own));
  const [first, ...others] = [...new Set(waiting.map((one) => one!.applicationId))];
  if (first === undefined) throw new NotAllowedError(`no operation ${code} waits in quarantine`);
  if (others.length > 0)
    throw new WrongUseError(
      `operations ${code} of several applications wait: name one of ${[first, ...others].join(', ')}`,
    );
  return loanStream(first, code);
};
