import * as grpc from '@grpc/grpc-js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventLog, StoredEvent } from './event-log.ts';
import type { Faults } from './faults.ts';
import {
  accessDenied,
  eventResponse,
  failure,
  streamDeleted,
  streamNotFoundResponse,
  streamOf,
  thrownByHandler,
} from './wire.ts';

export type ReadCall = grpc.ServerWritableStream<ReadReq, ReadResp>;

const { BACKWARDS } = streams.ReadReq.Options.ReadDirection;

/** Writes and waits as long as the reader's window is full. False when the reader has gone. */
export const send = async (call: ReadCall, response: ReadResp): Promise<boolean> => {
  if (call.cancelled) return false;
  if (!call.write(response)) await room(call);
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

const ofStream = (log: EventLog, options: ReadReq.Options): readonly StoredEvent[] => {
  const from = options.getStream();
  const all = log.shown(streamOf(from)) ?? [];
  const revision = from?.hasRevision() ? Number(from.getRevision()) : undefined;
  if (options.getReadDirection() !== BACKWARDS)
    return all.filter((event) => event.revision >= (revision ?? 0));
  return all.filter((event) => event.revision <= (revision ?? Infinity)).toReversed();
};

/** Reading $all begins with the event at the position, unlike subscribing. */
const ofLog = (log: EventLog, options: ReadReq.Options, count: number): readonly StoredEvent[] => {
  const from = options.getAll();
  const position = from?.hasPosition() ? Number(from.getPosition()?.getCommitPosition()) : undefined;
  if (options.getReadDirection() !== BACKWARDS) {
    const first = position === undefined ? 0 : log.firstBehind(position - 1);
    return log.events.slice(first, first + count);
  }
  const last = position === undefined ? log.events.length : log.firstBehind(position - 1);
  return log.events.slice(Math.max(0, last - count), last).toReversed();
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
  return commit >= log.end || commit === 0 || log.indexOf(commit) !== undefined;
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
  if (stream && !log.shown(name)) await send(call, streamNotFoundResponse(name));
  const events = stream ? ofStream(log, options).slice(0, count) : ofLog(log, options, count);
  for (const event of events) if (!(await send(call, eventResponse(event)))) return;
  call.end();
};
