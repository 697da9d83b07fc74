import { workerData } from 'node:worker_threads';
import { Connection } from './connection.ts';
import type { ConnectionSettings } from './connection.ts';
import { serveThread } from './database-thread.ts';
import { UnitWriter } from './units.ts';
import type { FlatUnit, Outcome } from './units.ts';

/** Bounds how long the first of a group waits for the last. */
const UNITS_PER_GROUP = 256;

serveThread<FlatUnit, Outcome>(
  () => new UnitWriter(new Connection(workerData as ConnectionSettings)),
  UNITS_PER_GROUP,
);
