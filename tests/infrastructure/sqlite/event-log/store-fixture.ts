import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { WorkerOptions } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import { afterEach } from '@jest/globals';
import type { SqliteEventStoreOptions } from '../../../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { EVENT_LOG_FILE } from '../../../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import type { FromThread, ToThread } from '../../../../infrastructure/sqlite/database-thread.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export const newDataDir = async (): Promise<string> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'event-store-'));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
};

export const openStore = async (
  dataDir: string,
  options: SqliteEventStoreOptions = {},
): Promise<SqliteEventStore> => {
  const store = await SqliteEventStore.open(dataDir, options);
  cleanups.push(() => store.close());
  return store;
};

/** A connection beside the store, as another process has one. */
export const openFile = (dataDir: string): DatabaseSync => {
  const db = new DatabaseSync(join(dataDir, EVENT_LOG_FILE), { timeout: 5_000 });
  cleanups.push(() => db.isOpen && db.close());
  return db;
};

/** Keeps every writer waiting until the answer is called, as a disk that does not answer would. */
export const holdWriteLock = (dataDir: string): (() => void) => {
  const db = openFile(dataDir);
  db.exec('BEGIN IMMEDIATE');
  return () => db.exec('ROLLBACK');
};

/** A thread whose traffic can be watched, and whose answers can get lost. */
class WatchedWorker extends Worker {
  readonly sent: ToThread<readonly unknown[]>[] = [];
  /** Dies in place of delivering the next answer. */
  dieBeforeAnswer = false;

  override postMessage(message: ToThread<readonly unknown[]>): void {
    this.sent.push(message);
    super.postMessage(message);
  }

  override emit(name: string | symbol, ...args: unknown[]): boolean {
    const isAnswer = name === 'message' && (args[0] as FromThread<unknown>).kind === 'replies';
    if (!isAnswer || !this.dieBeforeAnswer) return super.emit(name, ...args);
    void this.terminate();
    return true;
  }
}

export class WorkerWatch {
  readonly workers: WatchedWorker[] = [];
  /** While true, threads that are started end at once. */
  refuse = false;

  readonly create = (entry: URL, options: WorkerOptions): Worker => {
    if (this.refuse) return new Worker('process.exit(3)', { eval: true });
    const worker = new WatchedWorker(entry, options);
    this.workers.push(worker);
    return worker;
  };

  latest(): WatchedWorker {
    const worker = this.workers.at(-1);
    if (!worker) throw new Error('no writer was started');
    return worker;
  }
}
