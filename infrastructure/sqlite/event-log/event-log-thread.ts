import { workerData } from 'node:worker_threads';
import { serveThread } from '../database-thread.ts';
import { openEventLog } from './event-log-threads.ts';
import type { EventLogFile } from './event-log-threads.ts';
import { EventLogWriter } from './event-log-writer.ts';
import type { AppendReply, Row } from './event-log-writer.ts';

const MOST_APPENDS = 1_000;

serveThread<Row, AppendReply>(
  () => new EventLogWriter(openEventLog({ ...(workerData as EventLogFile), role: 'writer' })),
  MOST_APPENDS,
);
