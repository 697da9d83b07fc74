import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { CreateWorker } from './database-thread.ts';
import { createNodeWorker, DatabaseThread } from './database-thread.ts';
import type { EventLogFile } from './event-log-connection.ts';

export interface SqliteEventStoreOptions {
  readonly logger?: Logger;
  /** Appends that may wait while the disk is slow; more are refused. Default 10,000, and 64 million characters in any case. */
  readonly maxWaitingAppends?: number;
  /** How long an append waits for another process to release the file. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Upper bound of the file in pages of 4 KiB; beyond it an append fails as on a full disk. Default: none. */
  readonly maxPageCount?: number;
  /** How long `close` waits for a disk that does not answer. Default 5,000. */
  readonly closeGraceMs?: number;
  readonly createWorker?: CreateWorker;
}

export const EVENT_LOG_FILE = 'events.db';

/** Writes and reads have a thread and a connection each: a read must not wait for a flush. */
export interface EventLogThreads {
  readonly writer: DatabaseThread;
  readonly reader: DatabaseThread;
}

const THREAD = new URL('./event-log-thread.ts', import.meta.url);
const MAX_WAITING_CHARACTERS = 64_000_000;

const startThread = (
  role: EventLogFile['role'],
  file: string,
  options: SqliteEventStoreOptions,
): Promise<DatabaseThread> => {
  const { busyTimeoutMs = 5_000, maxPageCount } = options;
  const limit = maxPageCount === undefined ? {} : { maxPageCount };
  const data: EventLogFile = { file, role, busyTimeoutMs, ...limit };
  return DatabaseThread.start({
    name: `event store ${role}`,
    entry: THREAD,
    data,
    lost: (why) => (role === 'writer' ? new OutcomeUnknownError(why) : new StoreUnavailableError(why)),
    limits: { maxCalls: options.maxWaitingAppends ?? 10_000, maxCharacters: MAX_WAITING_CHARACTERS },
    createWorker: options.createWorker ?? createNodeWorker,
    logger: options.logger,
  });
};

/** The writer first: it creates the file and brings the schema up to date. @throws StoreUnavailableError */
export const startThreads = async (
  dataDir: string,
  options: SqliteEventStoreOptions,
): Promise<EventLogThreads> => {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, EVENT_LOG_FILE);
  const writer = await startThread('writer', file, options);
  try {
    return { writer, reader: await startThread('reader', file, options) };
  } catch (error) {
    await writer.close(0);
    throw error;
  }
};

/** The writer last: the last connection to leave moves the write-ahead log into the file. */
export const closeThreads = async ({ writer, reader }: EventLogThreads, graceMs: number): Promise<void> => {
  await reader.close(graceMs / 2);
  await writer.close(graceMs / 2);
};
