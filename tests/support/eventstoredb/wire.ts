import * as grpc from '@grpc/grpc-js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent, StoredEvent } from './event-log.ts';

type Identifier = { getStreamIdentifier(): shared.StreamIdentifier | undefined };

export const empty = (): shared.Empty => new shared.Empty();

export const streamOf = (message: Identifier | undefined): string =>
  Buffer.from(message?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8');

export const identifierOf = (stream: string): shared.StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream, 'utf8').toString('base64'));

export const uuidOf = (id: string): shared.UUID => new shared.UUID().setString(id);

/** An error as the server raises it: a status, and in the trailers the name by which the client knows the exception. */
export const failure = (
  code: grpc.status,
  details: string,
  trailers: Readonly<Record<string, string>> = {},
): grpc.ServiceError => {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
};

/** What the server says of whatever it did not expect itself. */
export const thrownByHandler = (): grpc.ServiceError =>
  failure(grpc.status.UNKNOWN, 'Exception was thrown by handler.');

export const accessDenied = (): grpc.ServiceError =>
  failure(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

export const streamDeleted = (stream: string): grpc.ServiceError =>
  failure(grpc.status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

export const proposedEvent = (
  message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage,
): ProposedEvent => {
  const properties = message.getMetadataMap();
  for (const name of ['type', 'content-type'])
    if (!properties.has(name))
      throw failure(grpc.status.INVALID_ARGUMENT, `Required Metadata Property '${name}' is missing`, {
        exception: 'missing-required-metadata-property',
        'required-metadata-properties': 'type,content-type',
      });
  return {
    id: message.getId()?.getString().toLowerCase() ?? '',
    type: properties.get('type') ?? '',
    contentType: properties.get('content-type') ?? '',
    data: Buffer.from(message.getData_asU8()),
    metadata: Buffer.from(message.getCustomMetadata_asU8()),
  };
};

/** What counts towards the limit of an append: until 23.10 the data alone, since 24.10 everything of the event. */
export type SizeRule = 'data' | 'everything';

export const sizeOf = (event: ProposedEvent, rule: SizeRule): number =>
  rule === 'data' ? event.data.length : event.data.length + event.metadata.length + 2 * event.type.length;

const responses = new WeakMap<StoredEvent, streams.ReadResp>();

/** Each event is put into its message once, however many read it. */
export const eventResponse = (event: StoredEvent): streams.ReadResp => {
  const response = responses.get(event) ?? toResponse(event);
  responses.set(event, response);
  return response;
};

const serialized = new WeakMap<streams.ReadResp, Buffer>();

export const serializeOnce = (response: streams.ReadResp): Buffer => {
  const bytes = serialized.get(response) ?? Buffer.from(response.serializeBinary());
  serialized.set(response, bytes);
  return bytes;
};

const toResponse = (event: StoredEvent): streams.ReadResp => {
  const position = String(event.position);
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuidOf(event.id))
    .setStreamIdentifier(identifierOf(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(event.data.toString('base64'))
    .setCustomMetadata(event.metadata.toString('base64'));
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', event.contentType)
    .set('created', event.created);
  const read = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position);
  return new streams.ReadResp().setEvent(read);
};

export const confirmationResponse = (id: string): streams.ReadResp =>
  new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id),
  );

export const checkpointResponse = (position: number): streams.ReadResp =>
  new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint()
      .setCommitPosition(String(position))
      .setPreparePosition(String(position)),
  );

export const caughtUpResponse = (): streams.ReadResp =>
  new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());

export const fellBehindResponse = (): streams.ReadResp =>
  new streams.ReadResp().setFellBehind(new streams.ReadResp.FellBehind());

export const streamNotFoundResponse = (stream: string): streams.ReadResp =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
  );
