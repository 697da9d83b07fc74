import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { OperationMark, PublicEvent } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { PoisonEventError } from '../../application/processors/processor.ts';
import type { Followed } from '../../application/processors/processor.ts';
import { HandledEvents } from './handled-events.ts';
import {
  UnreadableMessageError,
  fromBusMessage,
  operationKey,
} from '../../application/publication/bus-message.ts';

/** A message as it was found on a topic. */
export interface KafkaRecord extends Followed {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A header that occurs several times counts with its last value. */
const headersOf = (headers: IHeaders = {}): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return [name, last?.toString()];
    }),
  );

/** Of whoever handles the message with this offset next. */
export const placeAt = (offset: number): LogPosition => String(offset) as LogPosition;

export const recordOf = (topic: string, partition: number, message: KafkaMessage): KafkaRecord => {
  const { key, value } = message;
  const [offset, headers] = [Number(message.offset), headersOf(message.headers)];
  return {
    ...{ topic, partition, offset, key, value, headers },
    id: `${topic}/${partition}@${offset}`,
    stream: key?.toString('utf8') ?? '',
    revision: BigInt(offset),
    type: headers['event'] ?? '',
    position: placeAt(offset + 1),
  };
};

const strictText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const textOf = (value: Buffer | null): string => {
  if (value === null) throw new UnreadableMessageError('the message has no value');
  try {
    return strictText.decode(value);
  } catch (error) {
    throw new UnreadableMessageError('the value is not UTF-8', { cause: error });
  }
};

/** @throws PoisonEventError when the message is none of ours */
export const eventOf = (record: KafkaRecord): PublicEvent => {
  try {
    return fromBusMessage({ value: textOf(record.value), headers: record.headers });
  } catch (error) {
    throw error instanceof UnreadableMessageError ? new PoisonEventError(record, error) : error;
  }
};

/** An event that comes after later ones of its operation, and was not handled. */
export interface LateEvent {
  readonly event: PublicEvent;
  /** Sequence of the newest event of the operation that was handled. */
  readonly newest: number;
}

export interface FreshEvents {
  readonly events: readonly PublicEvent[];
  /** What is to be remembered of them. */
  readonly operations: readonly OperationMark[];
  /** What can no longer be handed out in its order. */
  readonly late: readonly LateEvent[];
}

export const isKnown = ({ sequence, eventId }: PublicEvent, mark: OperationMark): boolean =>
  (sequence === mark.sequence && mark.eventIds.includes(eventId)) ||
  HandledEvents.of(mark).has(sequence, eventId);

/** The mark after an event was handled, in its order or late. */
export const markAfter = (
  mark: OperationMark | undefined,
  operation: string,
  event: PublicEvent,
): OperationMark => {
  const { sequence, eventId } = event;
  if (mark && sequence < mark.sequence)
    return { ...mark, handled: HandledEvents.of(mark).with(sequence, eventId).toString() };
  const same = mark?.sequence === sequence ? mark.eventIds : [];
  const handled = HandledEvents.of(mark).with(sequence, eventId).toString();
  return { operation, sequence, eventIds: [...same, eventId], handled };
};

/**
 * The events that the group has not handled yet. The relay repeats what it could not note as sent, always a stretch of the log in
 * its order; so what stands before the newest handled event of its operation is a repetition, however old, provided that this very
 * event was handled. One that was not was overtaken, on another partition or because it is published again after it expired unread.
 */
export const freshEvents = async (
  events: readonly PublicEvent[],
  group: string,
  offsets: Pick<ConsumerOffsets, 'marks'>,
): Promise<FreshEvents> => {
  const keys = events.map(({ applicationId, code }) => operationKey(applicationId, code));
  const known = new Map(await offsets.marks(group, [...new Set(keys)]));
  const moved = new Map<string, OperationMark>();
  const late: LateEvent[] = [];
  const fresh = events.filter((event, index) => {
    const operation = keys[index]!;
    const mark = known.get(operation);
    if (mark && event.sequence <= mark.sequence && isKnown(event, mark)) return false;
    if (mark && event.sequence < mark.sequence) {
      late.push({ event, newest: mark.sequence });
      return false;
    }
    const next = markAfter(mark, operation, event);
    known.set(operation, next);
    moved.set(operation, next);
    return true;
  });
  return { events: fresh, operations: [...moved.values()], late };
};
