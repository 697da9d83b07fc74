import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Connection } from './connection.ts';
import { readGroup, writeGroup } from './unit-execution.ts';
import type { FlatUnit, FromThread, ThreadSettings, ToThread } from './messages.ts';

/** Bounds how long the first of a group waits for the last. */
const UNITS_PER_GROUP = 256;
/** How long a relaxed transaction may stay off the disk. */
const FLUSH_AFTER_MS = 1_000;

const settings = workerData as ThreadSettings;
const port = parentPort!;
const post = (message: FromThread): void => port.postMessage(message);

const open = (): Connection | undefined => {
  try {
    return new Connection(settings);
  } catch (error) {
    post({ unopened: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
};

/** Takes what waits right now, as far as it fits one group. */
const drain = (first: ToThread): { ids: number[]; units: FlatUnit[]; closing: boolean } => {
  const ids: number[] = [];
  const units: FlatUnit[] = [];
  let message: ToThread | undefined = first;
  while (message !== undefined && message !== 'close') {
    ids.push(...message.ids);
    units.push(...message.units);
    if (ids.length >= UNITS_PER_GROUP) break;
    message = receiveMessageOnPort(port)?.message as ToThread | undefined;
  }
  return { ids, units, closing: message === 'close' };
};

const run = (connection: Connection, units: readonly FlatUnit[]) =>
  settings.role === 'writer'
    ? writeGroup(connection, units)
    : readGroup(connection, units, settings.busyTimeoutMs);

let flushing: NodeJS.Timeout | undefined;
const flushSoon = (connection: Connection): void => {
  if (flushing || !connection.unflushed) return;
  flushing = setTimeout(() => {
    flushing = undefined;
    connection.flush();
  }, FLUSH_AFTER_MS);
};

const connection = open();
if (connection) {
  port.on('message', (first: ToThread) => {
    const { ids, units, closing } = drain(first);
    if (ids.length > 0) post({ ids, outcomes: run(connection, units) });
    if (!closing) return flushSoon(connection);
    clearTimeout(flushing);
    connection.close();
    port.close();
  });
  post({ ready: true });
}
