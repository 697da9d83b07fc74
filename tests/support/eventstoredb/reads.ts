import * as grpc from '@grpc/grpc-js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { EventLog, StoredEvent } from './event-log.ts';
import type { Faults } from './faults.ts';
import { eventResponse, failure, streamNotFoundResponse, streamOf } from './wire.ts';

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
  const all = log.stream(streamOf(from));
  if (options.getReadDirection() !== BACKWARDS)
    return from?.hasRevision() ? all.slice(Number(from.getRevision())) : all;
  const upTo = from?.hasRevision() ? Number(from.getRevision()) + 1 : all.length;
  return all.slice(0, upTo).toReversed();
};

/** Reading $all begins with the event at the position, unlike subscribing. */
const ofLog = (log: EventLog, options: ReadReq.Options): readonly StoredEvent[] => {
  const from = options.getAll();
  const position = from?.hasPosition() ? Number(from.getPosition()?.getCommitPosition()) : undefined;
  if (options.getReadDirection() !== BACKWARDS)
    return log.events.filter((event) => event.position >= (position ?? 0));
  return log.events.filter((event) => event.position < (position ?? Infinity)).toReversed();
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
  const stream = options.getStream();
  const name = streamOf(stream);
  const count = Number(options.getCount());
  if (stream && log.stream(name).length === 0) await send(call, streamNotFoundResponse(name));
  const events = (stream ? ofStream(log, options) : ofLog(log, options)).slice(0, count);
  for (const event of events) if (!(await send(call, eventResponse(event)))) return;
  call.end();
};
