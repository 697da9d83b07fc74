import * as grpc from '@grpc/grpc-js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventLog, StoredEvent } from './event-log.ts';
import type { Faults } from './faults.ts';
import {
  accessDenied,
  eventAnswer,
  failure,
  streamDeleted,
  streamNotFoundAnswer,
  streamOf,
  thrownByHandler,
} from './wire.ts';

export type ReadCall = grpc.ServerWritableStream<ReadReq, Buffer>;

const { BACKWARDS } = streams.ReadReq.Options.ReadDirection;

/** Writes and waits as long as the reader's window is full. False when the reader has gone. */
export const send = async (call: ReadCall, answer: Buffer): Promise<boolean> => {
  if (call.cancelled) return false;
  if (!call.write(answer)) await room(call);
  return !call.cancelled;
};

const room = (call: ReadCall): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      for (const event of ['drain', 'cancelled', 'error', 'close']) call.removeListener(event, done);
      resolve();
    };
    for (const event of ['drain', 'cancelled', 'error', 'close']) call.once(event, done);
  });

const ofStream = (log: EventLog, options: ReadReq.Options, count: number): readonly StoredEvent[] => {
  const from = options.getStream();
  const shown = log.shown(streamOf(from));
  const revision = from?.hasRevision() ? Number(from.getRevision()) : undefined;
  const first = shown.length === 0 ? 0 : log.event(shown[0]!).revision;
  const at = (wanted: number): number => Math.max(0, wanted - first);
  if (options.getReadDirection() !== BACKWARDS)
    return shown.slice(at(revision ?? 0), at(revision ?? 0) + count).map((place) => log.event(place));
  const to = revision === undefined ? shown.length : at(revision + 1);
  return shown
    .slice(Math.max(0, to - count), to)
    .toReversed()
    .map((place) => log.event(place));
};

/** Reading $all begins with the event at the position, unlike subscribing. */
const ofLog = (log: EventLog, options: ReadReq.Options, count: number): readonly StoredEvent[] => {
  const from = options.getAll();
  const position = from?.hasPosition() ? Number(from.getPosition()?.getCommitPosition()) : undefined;
  if (options.getReadDirection() !== BACKWARDS) {
    const first = position === undefined ? 0 : log.firstBehind(position - 1);
    return log.slice(first, first + count);
  }
  const last = position === undefined ? log.size : log.firstBehind(position - 1);
  return log.slice(Math.max(0, last - count), last).toReversed();
};

const refusalOf = (log: EventLog, options: ReadReq.Options): grpc.ServiceError | undefined => {
  const stream = options.getStream();
  const forwards = options.getReadDirection() !== BACKWARDS;
  if (stream && log.isTombstoned(streamOf(stream))) return streamDeleted(streamOf(stream));
  if (Number(options.getCount()) === 0 || (stream?.hasEnd() && forwards))
    return failure(grpc.status.UNKNOWN, 'Unexpected ReadStreamResult: Error');
  const position = options.getAll()?.getPosition();
  return position && !standsAt(log, position) ? thrownByHandler() : undefined;
};

/** Whether a record begins there, or nothing is there yet; the server follows a position into nothing without a word. */
export const standsAt = (log: EventLog, position: ReadReq.Options.Position): boolean => {
  const [commit, prepare] = [Number(position.getCommitPosition()), Number(position.getPreparePosition())];
  if (prepare > commit) return false;
  return commit >= log.end || commit === 0 || log.hasEventAt(commit);
};

/** Streams of events that end. */
export const handleRead = async (log: EventLog, faults: Faults, call: ReadCall): Promise<void> => {
  const options = call.request.getOptions()!;
  faults.seen('Read', call);
  if (faults.reads === 'unanswered') return;
  if (faults.reads === 'failing') {
    call.emit('error', failure(grpc.status.UNAVAILABLE, 'injected'));
    return;
  }
  if (options.hasAll() && !faults.mayReadAll) {
    call.emit('error', accessDenied());
    return;
  }
  const refusal = refusalOf(log, options);
  if (refusal) {
    call.emit('error', refusal);
    return;
  }
  const stream = options.getStream();
  const name = streamOf(stream);
  const count = Number(options.getCount());
  if (stream && log.shown(name).length === 0) await send(call, streamNotFoundAnswer(name));
  const events = stream ? ofStream(log, options, count) : ofLog(log, options, count);
  for (const event of events) if (!(await send(call, eventAnswer(event)))) return;
  call.end();
};
