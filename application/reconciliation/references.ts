import { NONE } from './columns.ts';
import type { Payments } from './payments.ts';

interface Reference {
  readonly operation: number;
  readonly installment: string | null;
  readonly payment: number;
}

const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SEPARATORS = '/|:#-. _';
/** Shorter codes would be found inside anything. */
const SHORTEST_CODE_IN_TEXT = 4;
const LONGEST_CODE = 100;

/** Letters and digits alone: what is left when systems pad, split and change case. */
const plain = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** What stands behind it is another word, unless an installment is called so. */
const SPACE = /\s/;

/** Places in a text where a reference may stand: all of it, then each word. */
const wordsOf = (text: string): readonly string[] => {
  const words = text.split(/\s+/);
  return words.length > 1 ? [text, ...words] : words;
};

/** Most texts hold nothing of the kind, and are not taken apart for it. */
const HOLDS_ID = /[0-9a-f]{8}-[0-9a-f]{4}-/i;

export const eventIdsIn = (text: string): readonly string[] =>
  HOLDS_ID.test(text)
    ? wordsOf(text).flatMap((word) => (EVENT_ID.test(word) ? [word.toLowerCase()] : []))
    : [];

interface Name {
  readonly code: string;
  readonly installment?: string;
}
interface Place extends Required<Name> {
  readonly separator: string;
}

/** The longest codes first. */
function* placesIn(word: string): Generator<Place> {
  for (let index = Math.min(word.length - 2, LONGEST_CODE); index > 0; index -= 1) {
    const separator = word[index]!;
    if (!SEPARATORS.includes(separator)) continue;
    yield { code: word.slice(0, index), installment: word.slice(index + 1), separator };
  }
}

/** Every code of an operation that such a text may begin with, and the installments that would stand behind it. */
export const namesIn = (text: string): readonly Name[] =>
  wordsOf(text).flatMap((word): readonly Name[] => [{ code: word }, ...placesIn(word)]);

export type Schedules = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Finds what references name: an event id, `CODE/installment` (`/` never stands in a code, other separators may), a code alone, one
 * of these as a word among others, and last the same without regard to case and punctuation.
 */
export class References {
  readonly #payments: Payments;
  readonly #schedules: Schedules | undefined;
  /** Of operations with many payments, by their plain names: a statement may ask for each of its lines. */
  readonly #installments = new Map<number, ReadonlyMap<string, string>>();
  #events: Map<string, number> | undefined;
  #plainCodes: Map<string, number> | undefined;

  /** @param schedules what operations have beside installments that a payment names */
  constructor(payments: Payments, schedules?: Schedules) {
    this.#payments = payments;
    this.#schedules = schedules;
  }

  /** Null where schedules have to say whether it names an installment, or its operation alone. */
  find(text: string): Reference | null | undefined {
    if (text === '') return undefined;
    for (const id of eventIdsIn(text)) {
      const payment = this.#eventsById().get(id);
      if (payment !== undefined)
        return { operation: this.#payments.operation.at(payment), installment: null, payment };
    }
    for (const word of wordsOf(text)) {
      const found = this.#named(word);
      if (found !== undefined) return found;
    }
    return this.#namedPlainly(plain(text));
  }

  #named(word: string): Reference | null | undefined {
    const whole = this.#payments.findOperation(word);
    if (whole !== NONE) return { operation: whole, installment: null, payment: NONE };
    for (const { code, installment: name, separator } of placesIn(word)) {
      const operation = this.#payments.findOperation(code);
      if (operation === NONE) continue;
      const isWord = !SPACE.test(name);
      const isOne = this.#schedules?.get(code)?.has(name) || (separator === '/' && isWord);
      const installment = this.#installmentOf(operation, name) ?? (isOne ? name : undefined);
      if (installment !== undefined) return { operation, installment, payment: NONE };
      if (!this.#schedules && separator === ' ' && isWord) return null;
    }
    return undefined;
  }

  #namedPlainly(text: string): Reference | undefined {
    const codes = this.#codesPlainly();
    for (let length = Math.min(text.length, LONGEST_CODE); length >= SHORTEST_CODE_IN_TEXT; length -= 1) {
      const operation = codes.get(text.slice(0, length)) ?? NONE;
      if (operation === NONE) continue;
      if (length === text.length) return { operation, installment: null, payment: NONE };
      const installment = this.#installmentOf(operation, text.slice(length));
      if (installment !== undefined) return { operation, installment, payment: NONE };
    }
    return undefined;
  }

  #installmentOf(operation: number, name: string): string | undefined {
    const wanted = plain(name);
    const kept = this.#installments.get(operation);
    if (kept) return kept.get(wanted);
    const { installment } = this.#payments;
    const found = this.#payments.firstOfFew(operation, (p) => {
      const known = installment.at(p);
      return known !== null && plain(known) === wanted;
    });
    if (found === undefined) return this.#keptInstallments(operation).get(wanted);
    return found === NONE ? undefined : installment.at(found)!;
  }

  #keptInstallments(operation: number): ReadonlyMap<string, string> {
    const installments = new Map<string, string>();
    for (const p of this.#payments.of(operation)) {
      const installment = this.#payments.installment.at(p);
      if (installment === null) continue;
      const name = plain(installment);
      if (!installments.has(name)) installments.set(name, installment);
    }
    this.#installments.set(operation, installments);
    return installments;
  }

  #eventsById(): ReadonlyMap<string, number> {
    this.#events ??= new Map(this.#payments.eventId.map((id, payment) => [id.toLowerCase(), payment]));
    return this.#events;
  }

  /** Codes that look alike this way name nothing. */
  #codesPlainly(): ReadonlyMap<string, number> {
    if (this.#plainCodes) return this.#plainCodes;
    const codes = new Map<string, number>();
    for (const [code, operation] of this.#payments.codes()) {
      const key = plain(code);
      codes.set(key, codes.has(key) ? NONE : operation);
    }
    this.#plainCodes = codes;
    return codes;
  }
}
