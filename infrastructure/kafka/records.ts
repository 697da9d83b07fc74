import type { IHeaders, KafkaMessage } from 'kafkajs';
import { hash } from 'node:crypto';
import type { OperationMark, PublicEvent } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { PoisonEventError } from '../../application/processors/processor.ts';
import type { Followed } from '../../application/processors/processor.ts';
import {
  UnreadableMessageError,
  fromBusMessage,
  operationKey,
} from '../../application/publication/bus-message.ts';

/** Consecutive sequences; of a recent one also which events it was, as fingerprints. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly events: readonly string[] | undefined;
}

/** An operation's newest events, which are told by their ids; earlier ones are told by their sequence: a stored event gives it to one event. */
const KEPT_BY_ID = 32;
const FINGERPRINT_CHARACTERS = 8;

const fingerprint = (eventId: string): string => hash('sha256', eventId).slice(0, FINGERPRINT_CHARACTERS);

const join = (stretches: readonly Stretch[]): readonly Stretch[] => {
  const joined: Stretch[] = [];
  for (const stretch of stretches) {
    const last = joined.at(-1);
    const continues = last && !last.events && !stretch.events && stretch.from <= last.to + 1;
    if (continues) joined[joined.length - 1] = { ...last, to: Math.max(last.to, stretch.to) };
    else joined.push(stretch);
  }
  return joined;
};

/** The newest keep their ids. */
const shortened = (stretches: readonly Stretch[]): readonly Stretch[] => {
  let kept = 0;
  const marked = stretches.toReversed().map((stretch) => {
    if (!stretch.events) return stretch;
    return ++kept > KEPT_BY_ID ? { ...stretch, events: undefined } : stretch;
  });
  return join(marked.reverse());
};

const read = (text: string): readonly Stretch[] =>
  text.split(' ').map((part) => {
    const [numbers = '', events] = part.split(':');
    const [from, to = from] = numbers.split('-').map(Number);
    return { from: from!, to: to!, events: events?.split('+') };
  });

const text = (stretches: readonly Stretch[]): string =>
  stretches
    .map(({ from, to, events }) =>
      events ? `${from}:${events.join('+')}` : from === to ? `${from}` : `${from}-${to}`,
    )
    .join(' ');

/**
 * What a group has handled of one operation, as the text that its mark keeps: `0-41 43 45:1f3a9c0d`. It grows by a stretch only where
 * sequences are left out, which belong to events that stay inside, so it is bounded by what an operation can hold.
 */
export class HandledEvents {
  readonly #stretches: readonly Stretch[];

  private constructor(stretches: readonly Stretch[]) {
    this.#stretches = stretches;
  }

  /**
   * A release that kept the newest event alone dropped whatever stood before it: for such a mark, and for what such a release handled
   * since this one wrote, everything up to there counts as handled.
   */
  static of(mark: OperationMark | undefined): HandledEvents {
    if (!mark) return new HandledEvents([]);
    const known = mark.handled === undefined ? [] : read(mark.handled);
    const through = known.at(-1)?.to ?? -1;
    if (through >= mark.sequence) return new HandledEvents(known);
    const newest = { from: mark.sequence, to: mark.sequence, events: mark.eventIds.map(fingerprint) };
    const between =
      through + 1 < mark.sequence ? [{ from: through + 1, to: mark.sequence - 1, events: undefined }] : [];
    return new HandledEvents(join([...known, ...between, newest]));
  }

  /** False also for another event of a sequence that was handled. */
  has(sequence: number, eventId: string): boolean {
    const stretch = this.#stretches.findLast(({ from, to }) => from <= sequence && sequence <= to);
    return stretch !== undefined && (stretch.events?.includes(fingerprint(eventId)) ?? true);
  }

  with(sequence: number, eventId: string): HandledEvents {
    if (this.has(sequence, eventId)) return this;
    const id = fingerprint(eventId);
    const at = this.#stretches.findLastIndex(({ from }) => from <= sequence);
    const same = this.#stretches[at];
    if (same?.from === sequence && same.events)
      return new HandledEvents(this.#stretches.with(at, { ...same, events: [...same.events, id] }));
    const added = { from: sequence, to: sequence, events: [id] };
    return new HandledEvents(shortened(this.#stretches.toSpliced(at + 1, 0, added)));
  }

  toString(): string {
    return text(this.#stretches);
  }
}

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
 * event was handled. One that was not was overtaken, on another partition or because it is published again after it expired unread;
 * the first of these is `late`, with the sequence of the newest event of its operation that was handled.
 */
export const freshEvents = async (
  events: readonly PublicEvent[],
  group: string,
  offsets: Pick<ConsumerOffsets, 'marks'>,
) => {
  const keys = events.map(({ applicationId, code }) => operationKey(applicationId, code));
  const known = new Map(await offsets.marks(group, [...new Set(keys)]));
  const moved = new Map<string, OperationMark>();
  let late: { readonly event: PublicEvent; readonly newest: number } | undefined;
  const fresh = events.filter((event, index) => {
    const operation = keys[index]!;
    const mark = known.get(operation);
    if (mark && event.sequence <= mark.sequence && isKnown(event, mark)) return false;
    if (mark && event.sequence < mark.sequence) {
      late ??= { event, newest: mark.sequence };
      return false;
    }
    const next = markAfter(mark, operation, event);
    known.set(operation, next);
    moved.set(operation, next);
    return true;
  });
  return { events: fresh, operations: [...moved.values()], late };
};
