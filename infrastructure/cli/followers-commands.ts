import type { App } from '../../application/app.ts';
import type { FollowerPlace, Move } from '../../application/maintenance/follower-places.ts';
import type { RowDifference } from '../../application/maintenance/rebuild/compare-generations.ts';
import type { ListedReadModel } from '../../application/maintenance/rebuild/generations.ts';
import { instantOf } from '../../application/schemas/values.ts';
import { retryUntilAvailable } from '../../application/support/retry.ts';
import { asColumns } from '../presenting/columns.ts';
import { pause } from '../support/time.ts';
import type { CliCommand } from './cli-command.ts';
import { NotAllowedError, DifferencesFoundError } from './command-line.ts';
import { recordWherePossible } from './desk-lines.ts';

const FOLLOWER_COLUMNS = asColumns<FollowerPlace>([
  { name: 'follower', of: ({ name }) => name },
  'position',
  'updated_at',
  { name: 'problem', of: ({ problem }) => problem ?? null },
]);

interface MoveOptions {
  readonly after: string;
  readonly force?: boolean;
}

const START = 'start';

export const addFollowersCommands = (program: CliCommand): void => {
  const followers = program
    .command('followers')
    .description('places in the log of the relay and the scheduler: what fits no longer, and another one')
    .told('', 'followers list');
  followers
    .command('list')
    .description('where each stands, and why the log cannot be followed from there, if so')
    .told('Read models have places of their own: projections list.', 'followers list')
    .listing(FOLLOWER_COLUMNS, ({ maintenance }) => maintenance.followers.list());
  followers
    .command('move')
    .description('let a follower go on from another place, when an older log was restored')
    .argument('<follower>', 'as in followers list')
    .requiredOption(
      '--after <instant>',
      'hand out what was recorded later, such as 2026-01-15T12:00:00Z; `start`: everything',
      (text) => (text === START ? START : instantOf('after', text)),
    )
    .option('--force', 'although its place fits the log')
    .told(
      'For outbox-relay: the instant of the backup that was restored, so that what came later is published. What was published before is\n' +
        'published again with the same event_id. The others may begin at the start. Reads the log up to the instant. A follower that runs\n' +
        'goes on from there within seconds. Prints {follower, before, position}. Ends with 3 for a place that fits, without --force, and\n' +
        'for an unknown follower.',
      'followers move outbox-relay --after 2026-01-15T12:00:00Z',
    )
    .answering(async (services, follower: string, { after, force = false }: MoveOptions) => {
      const move = await services.maintenance.followers.move({ name: follower, after, force });
      if (move.outcome !== 'moved') throw refusal(follower, move.outcome);
      await recordWherePossible(services, [{ action: 'configured', decision: 'move_follower' }]);
      return { follower, before: move.before, position: move.position };
    });
};

const refusal = (follower: string, outcome: Exclude<Move['outcome'], 'moved'>): Error => {
  switch (outcome) {
    case 'unknown':
      return new NotAllowedError(
        `no follower ${follower} has a place: receivables followers list shows those that do`,
      );
    case 'fits':
      return new NotAllowedError(`the place of ${follower} fits the log; --force moves it all the same`);
    case 'busy':
      return new Error(`${follower} has moved on meanwhile: nothing was changed`);
  }
};

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
    .listing(GENERATION_COLUMNS, ({ maintenance }) => maintenance.readModels.list());
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

const GENERATION_COLUMNS = asColumns<ListedReadModel>([
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
