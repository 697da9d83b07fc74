import type { PublicEvent } from '../ports/event-bus.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { SCHEMA_VERSION } from './catalogue.ts';

interface BusMessage {
  /** Application and operation: what has to stay in order shares a key. */
  readonly key: string;
  readonly value: string;
  readonly headers: {
    readonly event_id: string;
    readonly event: string;
    readonly application_id: string;
    readonly schema_version: string;
    readonly log_position?: string;
  };
}

/** The message is not one of ours, or of a version that this one cannot read. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

/** Application ids hold no dot, so no two operations share a key. */
export const operationKey = (applicationId: string, code: string): string => `${applicationId}.${code}`;

export const toBusMessage = (event: PublicEvent): BusMessage => ({
  key: operationKey(event.applicationId, event.code),
  value: event.body,
  headers: {
    event_id: event.eventId,
    event: event.name,
    application_id: event.applicationId,
    schema_version: SCHEMA_VERSION,
    ...(event.position !== undefined && { log_position: event.position }),
  },
});

const text = (fields: Readonly<Record<string, unknown>>, name: string): string => {
  const value = fields[name];
  if (typeof value !== 'string')
    throw new UnreadableMessageError(`${name} should be text, found ${typeof value}`);
  if (value.includes('\0') || !value.isWellFormed())
    throw new UnreadableMessageError(`${name} holds characters that no store keeps`);
  return value;
};

const parse = (value: string): Readonly<Record<string, unknown>> => {
  try {
    const body: unknown = JSON.parse(value);
    if (typeof body === 'object' && body !== null) return body as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new UnreadableMessageError('the value is not JSON', { cause: error });
  }
  throw new UnreadableMessageError('the value is not an object');
};

/** @throws UnreadableMessageError naming what is missing or too new */
export const fromBusMessage = (
  message: Pick<BusMessage, 'value'> & { readonly headers: Readonly<Record<string, string | undefined>> },
): PublicEvent => {
  const { value, headers } = message;
  const version = text(headers, 'schema_version');
  if (version !== SCHEMA_VERSION) throw new UnreadableMessageError(`schema_version ${version} is not known`);
  const body = parse(value);
  const { sequence } = body;
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence < 0) {
    throw new UnreadableMessageError(
      `sequence should be a whole number from 0 on, found ${typeof sequence === 'number' ? sequence : typeof sequence}`,
    );
  }
  return {
    eventId: text(body, 'event_id'),
    name: text(body, 'event'),
    applicationId: text(headers, 'application_id'),
    fundId: text(body, 'fund_id'),
    code: text(body, 'originator_proposal_code'),
    sequence,
    timestamp: text(body, 'timestamp'),
    body: value,
    ...(headers['log_position'] !== undefined && { position: headers['log_position'] as LogPosition }),
  };
};
