import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Move } from '../../../application/maintenance/moving/move.ts';
import type { EventStore, EventSubscription } from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { MoveFailedError } from '../../../application/maintenance/moving/what-moves.ts';
import { WrongUseError } from '../../cli/command-line.ts';
import type { CliDependencies, MoveTargets } from '../../cli/command-line.ts';
import { DocumentsToMove } from '../../documents/s3/documents-to-move.ts';
import { S3Bucket, parseS3Url } from '../../documents/s3/s3-bucket.ts';
import { lockDirectory, readMigrationMarker, writeMigrationMarker } from '../../embedded/directory-lock.ts';
import { SqliteLogToMove, SourceFile } from '../../embedded/data-to-move.ts';
import type { MigrationMarker, MovedRow } from '../../embedded/directory-lock.ts';
import { EventStoreDbStore } from '../../eventstoredb/event-store-db-store.ts';
import { migrate } from '../../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../../application/sql/migrations/service.ts';
import {
  beginMove,
  ensureUnused,
  finishMove,
  readMove,
} from '../../../application/maintenance/moving/move-record.ts';
import { PostgresDatabase } from '../../postgres/postgres-database.ts';
import type { SqlDatabase } from '../../../application/sql/sql-database.ts';
import { messageOf } from '../../../application/support/failures.ts';
import { flawOf } from '../../postgres/addresses.ts';
import { opening } from '../../support/opening.ts';
import { SystemClock, pause } from '../../support/time.ts';
import type { Configuration } from '../configuration.ts';
import { SERVICE_FILE } from '../data-parts.ts';
import { holdsEvents } from '../log-fit.ts';

/** Where a data directory is moved to. */
interface NewEngines {
  readonly database: SqlDatabase;
  /** Undefined when the streams stay. */
  readonly store: (EventStore & EventSubscription) | undefined;
  readonly documents: S3Bucket | undefined;
}

type OpenedMove = Awaited<ReturnType<NonNullable<CliDependencies['openMove']>>>;

const rowsOf = ({ store, documents }: NewEngines): readonly MovedRow[] => [
  ...(store ? (['event store'] as const) : []),
  'database',
  ...(documents ? (['documents'] as const) : []),
];

const ensureEmpty = async (store: EventSubscription): Promise<void> => {
  if (await holdsEvents(store))
    throw new MoveFailedError('the event store holds other data: move into an empty one');
};

const clock = new SystemClock();

/** Begins a move, or finds the one that was interrupted. Until it is found empty, nothing is written anywhere. */
const begin = async (dataDir: string, engines: NewEngines): Promise<MigrationMarker> => {
  const { database, store } = engines;
  const now = clock.realNow();
  await migrate(database, serviceMigrations, now);
  const [mark, move] = [await readMigrationMarker(dataDir), await readMove(database)];
  if (move && move.id !== mark?.id)
    throw new MoveFailedError(
      'the database holds what was moved from another data directory, or from an older copy',
    );
  if (move && mark && move.finishedAt !== null) return { ...mark, state: 'moved', at: move.finishedAt };
  if (mark?.state === 'moved')
    throw new MoveFailedError(`this data directory was moved to another database at ${mark.at}`);
  if (move && mark) return mark;
  await ensureUnused(database);
  if (store) await ensureEmpty(store);
  const begun = mark ?? { id: randomUUID(), state: 'moving' as const, rows: rowsOf(engines), at: now };
  if (!mark) await writeMigrationMarker(dataDir, begun);
  await beginMove(database, begun.id, clock.realNow());
  return begun;
};

const ensureSameRows = ({ rows }: MigrationMarker, engines: NewEngines): void => {
  if (rows.join() === rowsOf(engines).join()) return;
  throw new MoveFailedError(`this move was begun for ${rows.join(', ')}: name the same engines again`);
};

/** A move out of this directory, ready to go (on). It has the directory alone until it is closed. */
export const openMove = async (dataDir: string, engines: NewEngines): Promise<OpenedMove> => {
  const { database, store, documents } = engines;
  await stat(join(dataDir, SERVICE_FILE)).catch((error: unknown) => {
    throw new MoveFailedError(`${dataDir} holds no service: DATA_DIR names what is moved`, { cause: error });
  });
  return opening(async (kept, close) => {
    kept(lockDirectory(dataDir, 'alone'));
    const log = kept(SqliteLogToMove.open(dataDir));
    const source = kept(SourceFile.open(join(dataDir, SERVICE_FILE)));
    const mark = await begin(dataDir, engines);
    ensureSameRows(mark, engines);
    const move = new Move({
      log,
      store,
      pause,
      finish: (places) => finishMove(database, places, clock.realNow()),
      records: { source, target: database },
      documents: documents && new DocumentsToMove(dataDir, documents),
    });
    const done = mark.state === 'moved';
    return {
      steps: async () => (done ? 0 : move.steps()),
      execute: async (onDone) => {
        const moved = done ? { already_moved: mark.at } : await move.execute(onDone);
        await writeMigrationMarker(dataDir, {
          ...mark,
          state: 'moved',
          at: done ? mark.at : clock.realNow(),
        });
        return moved;
      },
      close,
    };
  });
};

/** It is connected to when it is first used. @throws WrongUseError */
const eventStoreAt = (url: string, logger: Logger): EventStoreDbStore => {
  try {
    return new EventStoreDbStore({ url, logger });
  } catch (error) {
    throw new WrongUseError(messageOf(error), { cause: error });
  }
};

/** As the command line asks for it: engines from the command, else from the environment. @throws WrongUseError */
export const openMoveFor = async (
  { dataDir, engines }: Configuration,
  targets: MoveTargets,
  logger: Logger,
): Promise<OpenedMove> => {
  const databaseUrl = targets.database ?? engines.databaseUrl;
  const eventStoreUrl = targets.eventstore ?? engines.eventStoreUrl;
  const documentsUrl = targets.documents ?? engines.s3Url;
  // Followers of the streams keep their places in the database: the one cannot leave without the other.
  if (databaseUrl === undefined)
    throw new WrongUseError('name the database to move to, in DATABASE_URL or as --to database=URL');
  const flaw = flawOf(databaseUrl);
  if (flaw !== undefined) throw new WrongUseError(`the address of the database ${flaw}`);
  const location = documentsUrl === undefined ? undefined : parseS3Url(documentsUrl);
  if (documentsUrl !== undefined && location === undefined)
    throw new WrongUseError('the address of the document storage must be like S3_URL');
  return opening(async (kept, close) => {
    const store = kept(eventStoreUrl === undefined ? undefined : eventStoreAt(eventStoreUrl, logger));
    const database = kept(
      await PostgresDatabase.open({
        url: databaseUrl,
        logger,
        applicationName: 'receivables migrate',
        // Long pages of a comparison on a busy server.
        statementTimeoutMs: 60_000,
      }),
    );
    const documents = location && new S3Bucket({ location, pause });
    return { ...kept(await openMove(dataDir, { database, store, documents })), close };
  });
};
