import type { CliCommand } from './cli-command.ts';
import type { FollowerPlace, Move } from '../../application/maintenance/follower-places.ts';
import { instantOf } from '../../application/schemas/values.ts';
import { asColumns } from '../presenting/columns.ts';
import { NotAllowedError } from './command-line.ts';
import { recordWherePossible } from './desk-lines.ts';

const COLUMNS = asColumns<FollowerPlace>([
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
    .listing(COLUMNS, ({ maintenance }) => maintenance.followers.list());
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
