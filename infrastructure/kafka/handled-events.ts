import { hash } from 'node:crypto';
import type { OperationMark } from '../../application/ports/event-bus.ts';

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
