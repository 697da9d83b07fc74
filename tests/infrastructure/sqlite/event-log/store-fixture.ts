import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import type { SqliteEventStoreOptions } from '../../../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { EVENT_LOG_FILE } from '../../../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import type { FromThread, ToThread } from '../../../../infrastructure/sqlite/database-thread.ts';
import { onThreadStarted } from '../../../support/started-threads.ts';

const cleanups: (() => unknown)[] = [];

/** After each test: what it has opened and watched. */
export const cleanUp = async (): Promise<void> => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
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
interface WatchedWorker extends Worker {
  readonly sent: ToThread<readonly unknown[]>[];
  /** Dies in place of delivering the next answer. */
  dieBeforeAnswer: boolean;
}

const watched = (worker: Worker): WatchedWorker => {
  const [post, emit] = [worker.postMessage.bind(worker), worker.emit.bind(worker)];
  const one: WatchedWorker = Object.assign(worker, { sent: [], dieBeforeAnswer: false });
  one.postMessage = (message: ToThread<readonly unknown[]>) => {
    one.sent.push(message);
    post(message);
  };
  one.emit = (name: string | symbol, ...args: unknown[]) => {
    const isAnswer = name === 'message' && (args[0] as FromThread<unknown>).kind === 'replies';
    if (!isAnswer || !one.dieBeforeAnswer) return emit(name as 'message', ...args);
    void one.terminate();
    return true;
  };
  return one;
};

/** The writers that are started from now on. */
export class WorkerWatch {
  readonly workers: WatchedWorker[] = [];
  /** While true, threads that are started end at once. */
  refuse = false;

  constructor() {
    cleanups.push(
      onThreadStarted((worker) => {
        if (this.refuse) void worker.terminate();
        else this.workers.push(watched(worker));
      }),
    );
  }

  latest(): WatchedWorker {
    const worker = this.workers.at(-1);
    if (!worker) throw new Error('no writer was started');
    return worker;
  }
}
