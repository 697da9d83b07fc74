import { hash, randomUUID } from 'node:crypto';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import { shownBy } from '../schemas/shown-fields.ts';
import { PUBLICATIONS, publicationOf } from './catalogue.ts';
import { PING } from './event-names.ts';

const dataBy = new Map(PUBLICATIONS.map((publication) => [publication, shownBy(publication.data)]));

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/** The UUID of version 5 of this name in this namespace (RFC 9562): the same in every process and at any time. */
export const derivedId = (namespace: string, name: string): string => {
  const bytes = hash('sha1', Buffer.concat([bytesOf(namespace), Buffer.from(name)]), 'buffer');
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

interface EventPlace extends Pick<PublicEvent, 'eventId' | 'applicationId' | 'fundId' | 'code' | 'position'> {
  readonly revision: bigint;
  readonly recordedAt: string;
}

/** What a body is built of; `sequence` and `apiVersion` are ours, the rest is the envelope that receivers know. */
interface Envelope {
  readonly name: string;
  readonly eventId: string;
  readonly code: string | null;
  readonly fundId: string | null;
  readonly timestamp: string;
  readonly sequence: number;
  readonly apiVersion: string;
  readonly data: object;
  readonly flat?: object;
}

/** The bytes that are stored, signed and sent from now on. */
export const bodyOf = (envelope: Envelope): string =>
  JSON.stringify({
    event: envelope.name,
    event_id: envelope.eventId,
    originator_proposal_code: envelope.code,
    fund_id: envelope.fundId,
    timestamp: envelope.timestamp,
    sequence: envelope.sequence,
    api_version: envelope.apiVersion,
    ...envelope.flat,
    data: envelope.data,
  });

/** Undefined for what stays inside. Pure: the same input gives the same bytes. The time is that of the recording. */
export const toPublicEvent = (
  event: LoanEvent,
  { revision, recordedAt: timestamp, ...place }: EventPlace,
  apiVersion: string,
): PublicEvent | undefined => {
  const publication = publicationOf(event.type);
  if (!publication) return undefined;
  const { name, flat } = publication;
  const data = dataBy.get(publication)!(event);
  const beside = flat && { flat: Object.fromEntries(flat.map((field) => [field, data[field]])) };
  const made = { ...place, name, timestamp, sequence: Number(revision) };
  return { ...made, body: bodyOf({ ...made, apiVersion, data, ...beside }) };
};

/** Of no operation, and so of no fund. */
export const pingEvent = ({
  eventId = randomUUID(),
  applicationId,
  timestamp,
  apiVersion,
}: {
  readonly eventId?: string;
  readonly applicationId: string;
  readonly timestamp: string;
  readonly apiVersion: string;
}) => {
  const data = { message: 'This webhook is registered and reachable. Events will arrive here.' };
  const made = { eventId, name: PING, timestamp, code: null, fundId: null, sequence: 0 };
  return { ...made, applicationId, body: bodyOf({ ...made, apiVersion, data }) };
};
