import type { CliCommand } from './cli-command.ts';
import { parseLoanStream } from '../../application/command-handling/operation.ts';
import { renegotiationIdOf } from '../../application/projecting/quarantine.ts';
import type { QuarantinedOperation } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import type { App } from '../../application/app.ts';
import { asColumns } from '../presenting/columns.ts';
import { NotAllowedError, WrongUseError } from './command-line.ts';
import { configuring } from './desk-lines.ts';
import { scopeOf } from './options.ts';

const operationOf = ({ stream }: QuarantinedOperation) => parseLoanStream(stream);

const COLUMNS = asColumns<QuarantinedOperation>([
  { name: 'application_id', of: (row) => operationOf(row)?.applicationId },
  { name: 'originator_proposal_code', of: (row) => operationOf(row)?.code },
  'waits_for',
  { name: 'revision', of: (row) => Number(row.revision) },
  'event_type',
  'reason',
  { name: 'renegotiation_id', of: (row) => renegotiationIdOf(row.stream) },
]);

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
    .description('take in and publish what waits, with a program that can')
    .argument('[code]', 'originator_proposal_code, or the id of a renegotiation')
    .option(
      '--application <id|name>',
      'whose operation, or with --all operations; needed when several that wait have the code',
    )
    .option('--all', 'all that waits, one after another')
    .refusing((code: string | undefined, { all }: Which) =>
      (code === undefined) === (all === true) ? undefined : 'name one code, or give --all instead',
    )
    .told(
      'Prints {originator_proposal_code, releases}, or {renegotiation_id, releases}, a line for each with --all. A renegotiation and its\n' +
        'operations are released together: `together` names the others. What cannot be taken yet goes on waiting, and the command ends\n' +
        'with 1. What does not wait ends with 3.',
      'quarantine release OP-2026-000123',
      'quarantine release --all',
    )
    .answeringLines(releasing);
};

interface Which {
  readonly application?: string;
  readonly all?: boolean;
}

async function* releasing(services: App, code: string | undefined, which: Which): AsyncGenerator<object> {
  const { quarantine } = services.maintenance;
  const came = new Set<string>();
  const waiting: string[] = [];
  for (const stream of await streamsOf(services, code, which)) {
    // What came with another may still wait to be published.
    if (came.has(stream) && !(await quarantine.waits(stream))) continue;
    const line = { decision: 'release_quarantine', ...parseLoanStream(stream) };
    const releases = await configuring(services, line, () => quarantine.release(stream));
    for (const { together = [] } of releases) for (const other of together) came.add(other);
    const reason = releases.find(({ outcome }) => outcome === 'still_waits')?.reason;
    if (reason !== undefined) waiting.push(`${shownName(stream)} goes on waiting: ${reason}`);
    yield {
      [renegotiationIdOf(stream) === undefined ? 'originator_proposal_code' : 'renegotiation_id']:
        shownName(stream),
      releases: releases.map(({ waitsFor: waits_for, together, ...rest }) => ({
        waits_for,
        ...rest,
        ...(together && { together: together.map(shownName) }),
      })),
    };
  }
  const [first, ...others] = waiting;
  if (first !== undefined)
    throw new Error(others.length > 0 ? `${first}; so do ${others.length} more` : first);
}

const shownName = (stream: string): string =>
  parseLoanStream(stream)?.code ?? renegotiationIdOf(stream) ?? stream;

const streamsOf = async (
  services: App,
  code: string | undefined,
  { application }: Which,
): Promise<ReadonlySet<string>> => {
  const entries = await services.maintenance.quarantine.list();
  const renegotiation = entries.find(
    ({ stream }) => code !== undefined && renegotiationIdOf(stream) === code,
  );
  if (renegotiation) return new Set([renegotiation.stream]);
  const { applicationId: own } = await scopeOf(services, { application });
  const streams = new Set(
    entries
      .filter((entry) => own === undefined || operationOf(entry)?.applicationId === own)
      .filter((entry) => code === undefined || operationOf(entry)?.code === code)
      .map(({ stream }) => stream),
  );
  if (code === undefined) return streams;
  if (streams.size === 0)
    throw new NotAllowedError(`no operation and no renegotiation ${code} waits in quarantine`);
  if (streams.size > 1)
    throw new WrongUseError(
      `operations ${code} of several applications wait: name one of ${[...streams].map((one) => parseLoanStream(one)!.applicationId).join(', ')}`,
    );
  return streams;
};
