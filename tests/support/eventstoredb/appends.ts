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
import { empty, failure, identifierOf, proposedEvent, sizeOf, streamOf } from './wire.ts';

export const MAX_APPEND_SIZE = 1_048_576;

interface Setting {
  readonly log: EventLog;
  readonly faults: Faults;
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

/** What becomes of an append under the faults set now; undefined when its answer never leaves. */
const carriedOut = async (
  { log, faults }: Setting,
  request: AppendRequest,
): Promise<AppendOutcome | undefined> => {
  if (!faults.appendsTo(request.stream)) return log.append(request);
  const { appends, appendDelayMs, appendFailure } = faults;
  if (appendDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, appendDelayMs).unref());
  if (appends === 'lost') return undefined;
  if (appends === 'refused') throw appendFailure;
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
      if (problem) return answer(problem);
      const total = events.reduce((sum, event) => sum + sizeOf(event), 0);
      if (total > MAX_APPEND_SIZE) return answer(tooLarge());
      const expected = expectedOf(options, () => options?.getRevision() ?? '');
      const request = { stream: streamOf(options), expected, events };
      carriedOut(setting, request).then(
        (outcome) => outcome && !call.cancelled && answer(null, appendResponse(request, outcome)),
        (error: grpc.ServiceError) => answer(error),
      );
    });
  };

const batchError = (request: AppendRequest, current: number | undefined): status.Status => {
  const refusal = new shared.WrongExpectedVersion();
  if (current === undefined) refusal.setCurrentNoStream(new protobufEmpty.Empty());
  else refusal.setCurrentStreamRevision(String(current));
  if (request.expected === 'no_stream') refusal.setExpectedNoStream(new protobufEmpty.Empty());
  else if (typeof request.expected === 'number') refusal.setExpectedStreamPosition(String(request.expected));
  const details = new any.Any();
  details.pack(refusal.serializeBinary(), 'event_store.client.WrongExpectedVersion');
  return new status.Status().setCode(9).setMessage('WrongExpectedVersion').setDetails(details);
};

const batchResponse = (
  id: shared.UUID | undefined,
  request: AppendRequest,
  outcome: AppendOutcome,
): BatchAppendResp => {
  const response = new streams.BatchAppendResp()
    .setCorrelationId(id)
    .setStreamIdentifier(identifierOf(request.stream));
  if (outcome.kind !== 'success') return response.setError(batchError(request, outcome.current));
  const position = String(outcome.position);
  return response.setSuccess(
    new streams.BatchAppendResp.Success()
      .setCurrentRevision(String(outcome.revision))
      .setPosition(new shared.AllStreamPosition().setCommitPosition(position).setPreparePosition(position)),
  );
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
      request.events.push(...message.getProposedMessagesList().map(proposedEvent));
      open.set(id, request);
      if (!message.getIsFinal()) return;
      open.delete(id);
      carriedOut(setting, request).then(
        (outcome) => outcome && call.write(batchResponse(message.getCorrelationId(), request, outcome)),
        (error: grpc.ServiceError) => call.emit('error', error),
      );
    });
  };
