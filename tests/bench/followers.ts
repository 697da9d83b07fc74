import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pause } from './webhook-bench-world.ts';

interface Lag {
  readonly follower: string;
  readonly events: number;
  /** Until it had what was in the log when it was asked. */
  readonly ms: number;
}

/** Some followers store their place only when there was something for them. */
const PATIENCE_MS = 1_500;

const rowsOf = (path: string, text: string): readonly (readonly [string, number])[] => {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
  try {
    return db
      .prepare(text)
      .all()
      .map(({ name, position }) => [String(name), Number(position)] as const);
  } catch {
    return [];
  } finally {
    db.close();
  }
};

/** Positions of everything in an embedded service that follows the log, as they are stored. */
const positionsOf = (dataDir: string): readonly (readonly [string, number])[] => [
  ...readdirSync(dataDir)
    .filter((name) => /^read-model.*\.db$/.test(name))
    .flatMap((name) => rowsOf(join(dataDir, name), 'select name, position from projection_checkpoint')),
  ...rowsOf(join(dataDir, 'service.db'), 'select name, position from checkpoint'),
];

const endOf = (dataDir: string): number =>
  rowsOf(join(dataDir, 'events.db'), `select 'log' as name, max(position) as position from events`)[0]![1];

/** How far the followers are behind at this moment, and how long it takes each to get there. */
export const followerLag = async (dataDir: string): Promise<readonly Lag[]> => {
  const end = endOf(dataDir);
  const startedAt = performance.now();
  const lags = new Map<string, Lag>();
  const begun = new Map(positionsOf(dataDir));
  while (performance.now() - startedAt < PATIENCE_MS) {
    const ms = performance.now() - startedAt;
    for (const [follower, position] of positionsOf(dataDir))
      if (position >= end && !lags.has(follower))
        lags.set(follower, { follower, events: end - (begun.get(follower) ?? 0), ms });
    if (lags.size >= begun.size) break;
    await pause(5);
  }
  return [...lags.values()];
};
