import * as grpc from '@grpc/grpc-js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import protobufEmpty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { AppendOutcome, AppendRequest, EventLog, ExpectedRevision, ProposedEvent } from './event-log.ts';
import type { Faults } from './faults.ts';
import type { Membership } from './membership.ts';
import { refusalAt } from './membership.ts';
import type { SizeRule } from './wire.ts';
import {
  empty,
  failure,
  identifierOf,
  proposedEvent,
  sizeOf,
  streamDeleted,
  streamOf,
  thrownByHandler,
} from './wire.ts';

export const MAX_APPEND_SIZE = 1_048_576;

/** The server waits no longer for its own disks and followers. */
const WRITE_TIMEOUT_MS = 2_000;

interface Setting {
  readonly log: EventLog;
  readonly faults: Faults;
  readonly node: Membership;
  readonly sizeRule: SizeRule;
  /** Ends when the node gives up what is on its way. */
  readonly cancelled: () => AbortSignal;
}

interface Revisions {
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

const expectedOf = (options: Revisions | undefined, revision: () => string): ExpectedRevision => {
  if (options?.hasNoStream()) return 'no_stream';
  if (options?.hasAny()) return 'any';
  if (options?.hasStreamExists()) return 'stream_exists';
  return Number(revision());
};

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

const canceledByServer = (): grpc.ServiceError => failure(grpc.status.ABORTED, 'Request canceled by server');

const phaseTimeout = (): grpc.ServiceError =>
  failure(grpc.status.ABORTED, 'Operation timed out: Commit phase timeout');

const underWay = new WeakMap<EventLog, Set<string>>();

/** The same append twice at a time: the second one may wait for a commit that nobody tells it of. */
const alone = async <Result>(
  { log, faults }: Setting,
  request: AppendRequest,
  work: () => Promise<Result>,
): Promise<Result> => {
  const at = underWay.get(log) ?? new Set();
  underWay.set(log, at);
  const key = `${request.stream} ${request.events[0]?.id}`;
  if (at.has(key) && faults.equalAppendsTimeOutAfterMs !== undefined) {
    await wait(faults.equalAppendsTimeOutAfterMs);
    throw phaseTimeout();
  }
  at.add(key);
  try {
    return await work();
  } finally {
    at.delete(key);
  }
};

/** What becomes of an append under the faults set now; undefined when its answer never leaves. */
const carriedOut = async (setting: Setting, request: AppendRequest): Promise<AppendOutcome | undefined> => {
  const cancelled = setting.cancelled();
  const outcome = await alone(setting, request, () => underFaults(setting, request));
  if (cancelled.aborted) throw canceledByServer();
  return outcome;
};

const underFaults = async (
  { log, faults }: Setting,
  request: AppendRequest,
): Promise<AppendOutcome | undefined> => {
  if (!faults.appendsTo(request.stream)) return log.append(request);
  const { appends, appendDelayMs, appendFailure } = faults;
  if (appendDelayMs > 0) await wait(appendDelayMs);
  if (appends === 'lost') return undefined;
  if (appends === 'refused') throw appendFailure;
  if (appends === 'phase_timeout') {
    void log.append(request);
    await wait(faults.phaseTimeoutMs);
    throw phaseTimeout();
  }
  const outcome = await log.append(request);
  if (appends === 'answer_failing') throw appendFailure;
  return appends === 'answered' ? outcome : undefined;
};

const appendResponse = (request: AppendRequest, outcome: AppendOutcome): AppendResp => {
  const response = new streams.AppendResp();
  if (outcome.kind === 'success') {
    const position = String(outcome.position);
    return response.setSuccess(
      new streams.AppendResp.Success()
        .setCurrentRevision(String(outcome.revision))
        .setPosition(
          new streams.AppendResp.Position().setCommitPosition(position).setPreparePosition(position),
        ),
    );
  }
  if (outcome.kind === 'stream_deleted') throw streamDeleted(request.stream);
  const refusal = new streams.AppendResp.WrongExpectedVersion();
  if (outcome.current === undefined) refusal.setCurrentNoStream(empty());
  else refusal.setCurrentRevision(String(outcome.current));
  if (request.expected === 'no_stream') refusal.setExpectedNoStream(empty());
  else if (request.expected === 'any') refusal.setExpectedAny(empty());
  else if (request.expected === 'stream_exists') refusal.setExpectedStreamExists(empty());
  else refusal.setExpectedRevision(String(request.expected));
  return response.setWrongExpectedVersion(refusal);
};

const tooLarge = (): grpc.ServiceError =>
  failure(grpc.status.INVALID_ARGUMENT, `Maximum Append Size of ${MAX_APPEND_SIZE} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(MAX_APPEND_SIZE),
  });

export const handleAppend =
  (setting: Setting) =>
  (call: grpc.ServerReadableStream<AppendReq, AppendResp>, answer: grpc.sendUnaryData<AppendResp>): void => {
    let options: AppendReq.Options | undefined;
    const events: ProposedEvent[] = [];
    let problem: grpc.ServiceError | undefined;
    setting.faults.seen('Append', call);
    call.on('data', (message: AppendReq) => {
      try {
        if (message.hasOptions()) options = message.getOptions();
        else events.push(proposedEvent(message.getProposedMessage()!));
      } catch (error) {
        problem = error as grpc.ServiceError;
      }
    });
    call.on('error', () => undefined);
    call.on('end', () => {
      const refusal = problem ?? refusalAt(setting.node, call.metadata);
      if (refusal) return answer(refusal);
      if (totalOf(events, setting.sizeRule) > MAX_APPEND_SIZE) return answer(tooLarge());
      if (streamOf(options) === '' || events.some(({ type }) => type === ''))
        return answer(thrownByHandler());
      const expected = expectedOf(options, () => options?.getRevision() ?? '');
      const request = { stream: streamOf(options), expected, events };
      carriedOut(setting, request)
        .then((outcome) => outcome && !call.cancelled && answer(null, appendResponse(request, outcome)))
        .catch((error: grpc.ServiceError) => answer(error));
    });
  };

const totalOf = (events: readonly ProposedEvent[], rule: SizeRule): number =>
  events.reduce((sum, event) => sum + sizeOf(event, rule), 0);

const packed = (
  code: number,
  message: string,
  name: string,
  details: { serializeBinary(): Uint8Array },
): status.Status => {
  const wrapped = new any.Any();
  wrapped.pack(details.serializeBinary(), name);
  return new status.Status().setCode(code).setMessage(message).setDetails(wrapped);
};

const timedOut = (): status.Status =>
  packed(4, 'Timeout', 'event_store.client.Timeout', new shared.Timeout());

/** It says in words alone that it is not ready, and nothing of the kind that a client could recognize. */
const notHandled = (message: string): status.Status =>
  packed(0, message, 'google.protobuf.Empty', new protobufEmpty.Empty());

const badRequest = (): status.Status =>
  packed(3, 'BadRequest', 'event_store.client.BadRequest', new shared.BadRequest());

const tooLargeInBatch = (): status.Status =>
  packed(
    3,
    'MaximumAppendSizeExceeded',
    'event_store.client.MaximumAppendSizeExceeded',
    new shared.MaximumAppendSizeExceeded().setMaxappendsize(MAX_APPEND_SIZE),
  );

const wrongVersion = (request: AppendRequest, current: number | undefined): status.Status => {
  const refusal = new shared.WrongExpectedVersion();
  if (current === undefined) refusal.setCurrentNoStream(new protobufEmpty.Empty());
  else refusal.setCurrentStreamRevision(String(current));
  if (request.expected === 'no_stream') refusal.setExpectedNoStream(new protobufEmpty.Empty());
  else if (request.expected === 'any') refusal.setExpectedAny(new protobufEmpty.Empty());
  else if (request.expected === 'stream_exists') refusal.setExpectedStreamExists(new protobufEmpty.Empty());
  else refusal.setExpectedStreamPosition(String(request.expected));
  return packed(9, 'WrongExpectedVersion', 'event_store.client.WrongExpectedVersion', refusal);
};

const deletedInBatch = (stream: string): status.Status =>
  packed(
    9,
    'StreamDeleted',
    'event_store.client.StreamDeleted',
    new shared.StreamDeleted().setStreamIdentifier(identifierOf(stream)),
  );

const batchResponse = (
  id: shared.UUID | undefined,
  request: AppendRequest,
  outcome: AppendOutcome | status.Status,
): BatchAppendResp => {
  const response = new streams.BatchAppendResp()
    .setCorrelationId(id)
    .setStreamIdentifier(identifierOf(request.stream));
  if (outcome instanceof status.Status) return response.setError(outcome);
  if (outcome.kind === 'stream_deleted') return response.setError(deletedInBatch(request.stream));
  if (outcome.kind !== 'success') return response.setError(wrongVersion(request, outcome.current));
  const position = String(outcome.position);
  return response.setSuccess(
    new streams.BatchAppendResp.Success()
      .setCurrentRevision(String(outcome.revision))
      .setPosition(new shared.AllStreamPosition().setCommitPosition(position).setPreparePosition(position)),
  );
};

/** What the batch call says of an append where a call of its own would end with that error; undefined where it ends as well. */
const inBatch = (error: grpc.ServiceError): status.Status | undefined => {
  if (error.code === grpc.status.UNAVAILABLE) return notHandled(error.details);
  if (error.code === grpc.status.ABORTED && error.details.includes('phase timeout')) return timedOut();
  return undefined;
};

/** One stream of calls for all appends of a connection. Each append may come in parts; only the last one says so. */
export const handleBatchAppend =
  (setting: Setting) =>
  (call: grpc.ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
    const open = new Map<string, AppendRequest & { readonly events: ProposedEvent[] }>();
    setting.faults.seen('BatchAppend', call);
    call.on('error', () => undefined);
    call.on('end', () => call.end());
    call.on('data', (message: BatchAppendReq) => {
      const id = message.getCorrelationId()?.getString() ?? '';
      const options = message.getOptions();
      const request = open.get(id) ?? {
        stream: streamOf(options),
        expected: expectedOf(options, () => options?.getStreamPosition() ?? ''),
        events: [],
      };
      const answer = (outcome: AppendOutcome | status.Status): void =>
        void (!call.cancelled && call.write(batchResponse(message.getCorrelationId(), request, outcome)));
      const proposed = message.getProposedMessagesList().map(proposedEvent);
      if (proposed.some(({ type }) => type === '')) {
        // It goes on waiting for the rest of an append that it has refused, and answers a second time when that does not come.
        void wait(WRITE_TIMEOUT_MS).then(() => answer(timedOut()));
        return answer(badRequest());
      }
      request.events.push(...proposed);
      if (totalOf(request.events, setting.sizeRule) > MAX_APPEND_SIZE) {
        open.delete(id);
        return answer(tooLargeInBatch());
      }
      open.set(id, request);
      if (!message.getIsFinal()) return;
      open.delete(id);
      if (request.stream === '') return answer(badRequest());
      setting.faults.batched++;
      const refusal = refusalAt(setting.node, call.metadata);
      const working = refusal ? Promise.reject(refusal) : carriedOut(setting, request);
      working
        .then((outcome) => outcome && answer(outcome))
        .catch((error: grpc.ServiceError) => {
          const told = inBatch(error);
          if (told) answer(told);
          else call.emit('error', error);
        });
    });
  };
