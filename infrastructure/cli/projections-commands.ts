import { CommanderError } from 'commander';
import type { Command } from 'commander';
import type { RowDifference } from '../../application/ports/projection-copies.ts';
import type { RebuildResult } from '../../application/rebuild/rebuild-projection.ts';
import { CommandFailedError, answerLines } from './cli-services.ts';
import type { CliDependencies, CliServices } from './cli-services.ts';

const PERCENT = 100;
/** Of these, every one is printed; the rest is counted. */
const MOST_PRINTED = 1_000;

const never = (): AbortSignal => new AbortController().signal;

/** `projections list`, `projections rebuild`, `projections drop-old`. */
export const addProjectionsCommands = (program: Command, dependencies: CliDependencies): void => {
  const projections = program
    .command('projections')
    .description('read models: where they are, and building one anew while the service serves')
    .addHelpText('after', '\nExample:\n  receivables projections rebuild loan');
  addList(projections, dependencies);
  addRebuild(projections, dependencies);
  addDropOld(projections, dependencies);
};

const addList = (projections: Command, dependencies: CliDependencies): void => {
  projections
    .command('list')
    .description('every read model: version, place in the log, rows, and the second copy if there is one')
    .addHelpText('after', '\nPrints one read model a line.\n\nExample:\n  receivables projections list')
    .action(() =>
      answerLines(dependencies, async function* ({ projections: services }) {
        for (const name of services.names) yield await present(services, name);
      }),
    );
};

const addRebuild = (projections: Command, dependencies: CliDependencies): void => {
  projections
    .command('rebuild')
    .description('build read models from the log beside those that serve, compare, and switch in one step')
    .argument('[name]', 'one of them (default: all)')
    .option('--force', 'switch although rows differ, or although the running service has an older version')
    .addHelpText(
      'after',
      '\nThe service goes on. An interrupted rebuild goes on where it was when the command is given again. What served before is\n' +
        'kept until drop-old. Prints each row that differs, then one result a read model. Exit code 1 when rows differ.\n\n' +
        'Example:\n  receivables projections rebuild loan',
    )
    .action((name: string | undefined, { force = false }: { readonly force?: boolean }) =>
      answerLines(dependencies, ({ projections: services }) =>
        rebuilding(services, chosen(services, name, dependencies), { force, dependencies }),
      ),
    );
};

const addDropOld = (projections: Command, dependencies: CliDependencies): void => {
  projections
    .command('drop-old')
    .description(
      'empty the copy of a read model that does not serve: the one before the switch, or an unfinished one',
    )
    .argument('<name>', 'as printed by projections list')
    .addHelpText('after', '\nExample:\n  receivables projections drop-old loan')
    .action((name: string) =>
      answerLines(dependencies, async function* ({ projections: services }) {
        const [one] = chosen(services, name, dependencies);
        yield { projection: one, dropped: await services.drop(one!) };
      }),
    );
};

type Services = CliServices['projections'];

const chosen = (
  services: Services,
  name: string | undefined,
  dependencies: CliDependencies,
): readonly string[] => {
  if (name === undefined) return services.names;
  if (services.names.includes(name)) return [name];
  const message = `error: there is no read model ${name}: one of ${services.names.join(', ')}`;
  dependencies.writeError(`${message}\n`);
  throw new CommanderError(2, 'projections.unknown', message);
};

const present = async (services: Services, name: string): Promise<object> => {
  const { version, places, rows } = await services.show(name);
  const { live, copy } = places;
  return {
    projection: name,
    program_version: version,
    version: live?.version ?? null,
    position: live?.position ?? 'start',
    rows: rows.live,
    copy: copy
      ? { state: copy.state, version: copy.version, position: copy.position, rows: rows.copy }
      : null,
  };
};

interface Rebuilding {
  readonly force: boolean;
  readonly dependencies: CliDependencies;
}

async function* rebuilding(
  services: Services,
  names: readonly string[],
  { force, dependencies }: Rebuilding,
): AsyncGenerator<object> {
  const signal = (dependencies.untilInterrupted ?? never)();
  const differing: string[] = [];
  for (const name of names) {
    const differences: RowDifference[] = [];
    const result = await withProgress(dependencies, (onProgress) =>
      services.rebuild({
        name,
        force,
        signal,
        onProgress,
        onDifference: (difference) => {
          if (differences.length < MOST_PRINTED) differences.push(difference);
        },
      }),
    ).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      throw new CommandFailedError(`interrupted; the same command goes on with ${name} where it was`);
    });
    yield* differences.map((difference) => presentDifference(name, difference));
    yield presentResult(name, result);
    if (result.outcome === 'differs') differing.push(name);
  }
  if (differing.length > 0)
    throw new CommandFailedError(
      `${differing.join(', ')}: rows differ, what served goes on serving; --force switches all the same`,
    );
}

const withProgress = async <T>(
  dependencies: CliDependencies,
  work: (onProgress: (share: number) => void) => Promise<T>,
): Promise<T> => {
  const progress = dependencies.startProgress(PERCENT);
  let shown = 0;
  try {
    return await work((share) => {
      for (; shown < Math.floor(share * PERCENT); shown++) progress.advance();
    });
  } finally {
    progress.end();
  }
};

const presentDifference = (projection: string, difference: RowDifference): object => ({
  projection,
  table: difference.table,
  key: difference.key,
  ...(difference.only === undefined ? { columns: difference.columns } : { only_in: difference.only }),
});

const presentResult = (projection: string, result: RebuildResult): object => ({
  projection,
  outcome: result.outcome,
  resumed: result.resumed,
  events: result.events,
  differences: result.differences,
  position: result.position,
});
