import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { backupsOf } from '../../infrastructure/composition/data-directory.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { World } from './world.ts';

const READ_MODEL = /^read-model/;
/** What says how far a read model is, and how its tables came about. */
const NOT_ROWS = /^(sqlite_|schema_migration|checkpoint|projection_)/;

type Rows = Readonly<Record<string, readonly string[]>>;

const rowsOf = (path: string): Rows => {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = database
      .prepare(`select name from sqlite_master where type = 'table' order by name`)
      .all();
    const names = tables.map(({ name }) => String(name)).filter((name) => !NOT_ROWS.test(name));
    return Object.fromEntries(
      names.map((name) => [
        name,
        database
          .prepare(`select * from "${name}"`)
          .all()
          .map((row) => JSON.stringify(row))
          .sort(),
      ]),
    );
  } finally {
    database.close();
  }
};

/** The file of the read model that serves; of several generations, the youngest. */
const readModelOf = async (dataDir: string): Promise<string> => {
  const files = (await readdir(dataDir)).filter((name) => READ_MODEL.test(name) && name.endsWith('.db'));
  const number = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0);
  const [youngest] = files.sort((one, other) => number(other) - number(one));
  if (youngest === undefined) throw new Error(`${dataDir} holds no read model`);
  return join(dataDir, youngest);
};

/**
 * Builds the read models of a stopped world anew, from its log alone, and compares every row of every table; answers the tables
 * that differ, with the rows that only one side has.
 */
export const compareRebuiltRows = async (world: World): Promise<readonly string[]> => {
  const copy = temporaryDirectory();
  await cp(world.dataDir, copy, { recursive: true });
  for (const name of await readdir(copy)) if (READ_MODEL.test(name)) await rm(join(copy, name));
  const rebuilt = await World.start({ DATA_DIR: copy }, world);
  // The audit waits until every read model is at the end of the log.
  const audited = await rebuilt.audit();
  await rebuilt.stop();
  const [served, again] = [rowsOf(await readModelOf(world.dataDir)), rowsOf(await readModelOf(copy))];
  return [...audited, ...tablesThatDiffer(served, again)];
};

const tablesThatDiffer = (served: Rows, again: Rows): readonly string[] =>
  [...new Set([...Object.keys(served), ...Object.keys(again)])].flatMap((table) => {
    const [one = [], other = []] = [served[table], again[table]];
    if (isDeepStrictEqual(one, other)) return [];
    const [left, right] = [new Set(one), new Set(other)];
    const served1 = one.filter((row) => !right.has(row)).slice(0, 3);
    const rebuilt1 = other.filter((row) => !left.has(row)).slice(0, 3);
    return [`${table}: served ${served1.join()}; rebuilt ${rebuilt1.join()}`];
  });

/** A world on what was backed up from this one, while it runs, and restored. */
export const restoredFrom = async (world: World): Promise<World> => {
  const directory = temporaryDirectory();
  const [to, dataDir] = [join(directory, 'backup'), join(directory, 'restored')];
  const services = backupsOf(world.environment);
  await services.write({ to, withKey: false, onStep: () => undefined });
  await services.restore({ from: to, dataDir, onStep: () => undefined });
  return World.start({ DATA_DIR: dataDir }, world);
};
