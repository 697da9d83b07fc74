import { workerData } from 'node:worker_threads';
import { Connection, unusable } from './connection.ts';
import type { ConnectionSettings } from './connection.ts';
import { serveThread } from './database-thread.ts';
import { UnitWriter } from './units.ts';
import type { FlatUnit, Outcome } from './units.ts';

/** Bounds how long the first of a group waits for the last. */
const UNITS_PER_GROUP = 256;

const settings = workerData as ConnectionSettings;

const open = (): Connection => {
  try {
    return new Connection(settings);
  } catch (error) {
    throw unusable(settings.path, error);
  }
};

serveThread<FlatUnit, Outcome>(() => new UnitWriter(open()), UNITS_PER_GROUP);
