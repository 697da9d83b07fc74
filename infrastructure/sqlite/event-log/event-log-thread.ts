import { workerData } from 'node:worker_threads';
import { unusable } from '../connection.ts';
import type { Connection } from '../connection.ts';
import { serveThread } from '../database-thread.ts';
import { openEventLog } from './event-log-threads.ts';
import type { EventLogFile } from './event-log-threads.ts';
import { EventLogWriter } from './event-log-writer.ts';
import type { AppendReply, Row } from './event-log-writer.ts';

const MOST_APPENDS = 1_000;

const options = workerData as EventLogFile;

const open = (): Connection => {
  try {
    return openEventLog({ ...options, role: 'writer' });
  } catch (error) {
    throw unusable(options.path, error);
  }
};

serveThread<Row, AppendReply>(() => new EventLogWriter(open()), MOST_APPENDS);
