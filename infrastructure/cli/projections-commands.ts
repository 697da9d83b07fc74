import type { CliCommand } from './cli-command.ts';
import type { RowDifference } from '../../application/maintenance/rebuild/table-comparison.ts';
import type { App } from '../../application/app.ts';
import type { ListedReadModel } from '../../application/maintenance/rebuild/generations.ts';
import { retryUntilAvailable } from '../../application/support/retry.ts';
import { asColumns } from '../presenting/columns.ts';
import { pause } from '../support/time.ts';
import { DifferencesFoundError } from './command-line.ts';

const PERCENT = 100;
/** Of these, every one is printed; the rest is counted. */
const MOST_PRINTED = 1_000;

export const addProjectionsCommands = (program: CliCommand): void => {
  const projections = program
    .command('projections')
    .alias('projection')
    .description('read models: where they are, and building one anew while the service serves')
    .told('', 'projections rebuild');
  projections
    .command('list')
    .description('every read model of every generation: version, place in the log, rows')
    .told('', 'projections list')
    .listing(COLUMNS, ({ maintenance }) => maintenance.readModels.list());
  projections
    .command('rebuild')
    .description(
      'build the read models from the log beside those that serve, compare, and switch in one step',
    )
    .option('--force', 'switch although rows differ, or although the running service has an older version')
    .told(
      'The service goes on. An interrupted rebuild goes on where it was when the command is given again. What served before is\n' +
        'kept until drop-old. Prints each row that differs, then the result. Exit code 4 when rows differ.',
      'projections rebuild',
    )
    .answeringLines(rebuilding);
  projections
    .command('drop-old')
    .description('remove the generations that do not serve: those before the switch, and an unfinished one')
    .told('', 'projections drop-old')
    .answering(async ({ maintenance }) => ({ dropped: await maintenance.readModels.dropOld() }));
};

const COLUMNS = asColumns<ListedReadModel>([
  'generation',
  'state',
  'projection',
  'program_version',
  { name: 'version', of: (listed) => listed.place?.version ?? null },
  { name: 'position', of: (listed) => listed.place?.position ?? 'start' },
  'rows',
]);

async function* rebuilding(
  { maintenance }: App,
  { force = false }: { readonly force?: boolean },
  { dependencies }: CliCommand,
): AsyncGenerator<object> {
  const signal = dependencies.untilInterrupted();
  const printed: object[] = [];
  const rebuilt = async () => {
    using progress = dependencies.startProgress(PERCENT);
    let shown = 0;
    const rebuild = () => {
      printed.length = 0;
      return maintenance.readModels.rebuild({
        force,
        signal,
        onProgress: (share) => {
          for (; shown < Math.floor(share * PERCENT); shown++) progress.advance();
        },
        onDifference: ({ name }, difference) => {
          if (printed.length < MOST_PRINTED) printed.push(presentDifference(name, difference));
        },
      });
    };
    // It goes on with what the try before has built.
    return await retryUntilAvailable(rebuild, (ms) => pause(ms, signal));
  };
  const result = await rebuilt().catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new Error('interrupted; the same command goes on where it was');
  });
  yield* printed;
  yield result;
  if (result.outcome === 'differs')
    throw new DifferencesFoundError(
      'rows differ, what served goes on serving; where no service takes in the log, start it and run this again; --force switches all the same',
    );
}

/** What may name a person is counted, not shown. */
const PRIVATE_COLUMNS: ReadonlySet<string> = new Set([
  'loan borrower',
  'loan reason_detail',
  'document value',
]);

const shownColumns = ({ table, columns }: RowDifference): object =>
  Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [
      name,
      PRIVATE_COLUMNS.has(`${table} ${name}`) ? '(private texts that differ)' : values,
    ]),
  );

const presentDifference = (projection: string, difference: RowDifference): object => ({
  projection,
  table: difference.table,
  key: difference.key,
  ...(difference.only === undefined ? { columns: shownColumns(difference) } : { only_in: difference.only }),
});
