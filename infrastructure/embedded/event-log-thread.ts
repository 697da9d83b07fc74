import { parentPort, workerData } from 'node:worker_threads';
import type { EventLogFile } from './event-log-connection.ts';
import { closeEventLog, openEventLog } from './event-log-connection.ts';
import { EventLogReader } from './event-log-reader.ts';
import { EventLogWriter } from './event-log-writer.ts';
import type { Cells, FromThread, ToThread } from './thread-protocol.ts';
import { messageOf } from './thread-protocol.ts';

const send = (message: FromThread): void => parentPort?.postMessage(message);

const serve = (options: EventLogFile): void => {
  const db = openEventLog(options);
  const answer: (requests: readonly Cells[]) => readonly Cells[] =
    options.role === 'writer'
      ? (
          (writer) => (requests) =>
            writer.commit(requests)
        )(new EventLogWriter(db))
      : (
          (reader) => (requests) =>
            reader.answer(requests)
        )(new EventLogReader(db));
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'batch') {
      send({ kind: 'replies', replies: answer(message.requests) });
      return;
    }
    closeEventLog(db, options.role);
    parentPort?.close();
  });
  send({ kind: 'ready' });
};

const options = workerData as EventLogFile;
try {
  serve(options);
} catch (error) {
  send({ kind: 'failed', message: `${options.file}: ${messageOf(error)}` });
}
