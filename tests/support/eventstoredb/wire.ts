import * as grpc from '@grpc/grpc-js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { field, numberField, textField } from '../../../infrastructure/eventstoredb/protobuf.ts';
import type { Pieces } from '../../../infrastructure/eventstoredb/protobuf.ts';
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

/** `event_store.client.streams.ReadResp`, written: events are the most of what a server says. */
type Answer = Buffer;

const answer = (response: streams.ReadResp): Answer => Buffer.from(response.serializeBinary());

const note = (key: string, value: string): Pieces => field(6, ...textField(1, key), ...textField(2, value));

export const eventAnswer = (event: StoredEvent): Answer => {
  const position = BigInt(event.position);
  const recorded = field(
    1,
    ...field(1, ...textField(2, event.id)),
    ...field(2, ...textField(3, event.stream)),
    numberField(3, BigInt(event.revision)),
    numberField(4, position),
    numberField(5, position),
    ...note('type', event.type),
    ...note('content-type', event.contentType),
    // Hundreds of nanoseconds.
    ...note('created', `${event.created}0000`),
    ...field(7, event.metadata),
    ...field(8, event.data),
  );
  return Buffer.concat(field(1, ...recorded, numberField(3, position)));
};

export const confirmationAnswer = (id: string): Answer =>
  answer(
    new streams.ReadResp().setConfirmation(
      new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(id),
    ),
  );

export const checkpointAnswer = (position: number): Answer =>
  answer(
    new streams.ReadResp().setCheckpoint(
      new streams.ReadResp.Checkpoint()
        .setCommitPosition(String(position))
        .setPreparePosition(String(position)),
    ),
  );

export const caughtUpAnswer = (): Answer =>
  answer(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));

export const fellBehindAnswer = (): Answer =>
  answer(new streams.ReadResp().setFellBehind(new streams.ReadResp.FellBehind()));

export const streamNotFoundAnswer = (stream: string): Answer =>
  answer(
    new streams.ReadResp().setStreamNotFound(
      new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
    ),
  );
