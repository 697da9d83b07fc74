import { workerData } from 'node:worker_threads';
import { messageOf } from '../../../application/support/failures.ts';
import { serveThread } from '../serve-thread.ts';
import type { AppendReply, Row } from './event-log-writer.ts';
import { openEventLog } from './event-log-threads.ts';
import type { EventLogFile } from './event-log-threads.ts';
import { EventLogWriter } from './event-log-writer.ts';

const MOST_APPENDS = 1_000;

const options = workerData as EventLogFile;

serveThread<Row, AppendReply>(() => {
  try {
    const connection = openEventLog({ ...options, role: 'writer' });
    const writer = new EventLogWriter(connection.database);
    return {
      carryOut: (appends) => writer.commit(appends),
      close: () => {
        connection.checkpoint();
        connection.close();
      },
    };
  } catch (error) {
    throw new Error(`${options.path}: ${messageOf(error)}`, { cause: error });
  }
}, MOST_APPENDS);
