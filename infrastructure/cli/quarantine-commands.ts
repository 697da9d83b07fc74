import type { CliCommand } from './cli-command.ts';
import { loanStream, parseLoanStream } from '../../application/command-handling/operation.ts';
import { renegotiationIdOf } from '../../application/projecting/renegotiation-ties.ts';
import type { QuarantinedOperation } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import type { App } from '../../application/app.ts';
import type { Column } from '../presenting/columns.ts';
import { CommandFailedError, NotAllowedError, WrongUseError, answer } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { applicationOf } from './scope.ts';

const operationOf = ({ stream }: QuarantinedOperation) => parseLoanStream(stream);

const COLUMNS: readonly Column<QuarantinedOperation>[] = [
  { name: 'application_id', of: (row) => operationOf(row)?.applicationId },
  { name: 'originator_proposal_code', of: (row) => operationOf(row)?.code },
  { name: 'waits_for', of: (row) => row.waitsFor },
  { name: 'revision', of: (row) => Number(row.revision) },
  { name: 'event_type', of: (row) => row.eventType },
  { name: 'reason', of: (row) => row.reason },
  { name: 'renegotiation_id', of: (row) => renegotiationIdOf(row.stream) },
];

export const addQuarantineCommands = (program: CliCommand): void => {
  const quarantine = program
    .command('quarantine')
    .description(
      'operations and renegotiations that wait because one of their events cannot be read, projected or published',
    )
    .told('', 'quarantine list');
  quarantine
    .command('list')
    .description('what waits, for which read model or for being published, and why')
    .told('', 'quarantine list -o json')
    .listing(COLUMNS, async ({ maintenance }) => maintenance.quarantine.list());
  quarantine
    .command('release')
    .description('take in and publish what waits of an operation or a renegotiation, with a program that can')
    .argument('<code>', 'originator_proposal_code, or the id of a renegotiation')
    .option('--application <id|name>', 'whose operation; needed when several that wait have the code')
    .told(
      'Prints {originator_proposal_code, releases}, or {renegotiation_id, releases}. A renegotiation and its operations are released\n' +
        'together: `together` names the others. What cannot be taken yet goes on waiting, and the command ends with 1. What does not\n' +
        'wait ends with 3.',
      'quarantine release OP-2026-000123',
    )
    .action(async (code: string, { application }: { readonly application?: string }) => {
      let waits: string | undefined;
      await answer(program.dependencies, async (services) => {
        const stream = await streamOf(services, code, application);
        const line = { decision: 'release_quarantine', ...parseLoanStream(stream) };
        const releases = await configuring(services, line, () =>
          services.maintenance.quarantine.release(stream),
        );
        waits = releases.find(({ outcome }) => outcome === 'still_waits')?.reason;
        return {
          [renegotiationIdOf(stream) === undefined ? 'originator_proposal_code' : 'renegotiation_id']: code,
          releases: releases.map(({ waitsFor: waits_for, together, ...rest }) => ({
            waits_for,
            ...rest,
            ...(together && { together: together.map(shownName) }),
          })),
        };
      });
      if (waits !== undefined) throw new CommandFailedError(`${code} goes on waiting: ${waits}`);
    });
};

const shownName = (stream: string): string =>
  parseLoanStream(stream)?.code ?? renegotiationIdOf(stream) ?? stream;

const streamOf = async (services: App, code: string, application?: string): Promise<string> => {
  const entries = await services.maintenance.quarantine.list();
  const renegotiation = entries.find(({ stream }) => renegotiationIdOf(stream) === code);
  if (renegotiation) return renegotiation.stream;
  const own = application === undefined ? undefined : await applicationOf(services, application);
  const waiting = entries
    .map((entry) => operationOf(entry))
    .filter((one) => one?.code === code && (own === undefined || one.applicationId === own));
  const [first, ...others] = [...new Set(waiting.map((one) => one!.applicationId))];
  if (first === undefined)
    throw new NotAllowedError(`no operation and no renegotiation ${code} waits in quarantine`);
  if (others.length > 0)
    throw new WrongUseError(
      `operations ${code} of several applications wait: name one of ${[first, ...others].join(', ')}`,
    );
  return loanStream(first, code);
};
