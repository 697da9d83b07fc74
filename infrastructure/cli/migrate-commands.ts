import { InvalidArgumentError } from 'commander';
import type { CliCommand } from './cli-command.ts';
import { MOVE_TARGETS } from './command-line.ts';
import type { MoveTargets } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';

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
