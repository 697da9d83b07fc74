import { NONE } from './columns.ts';
import type { Payments } from './payments.ts';

/** What a statement's reference names. */
interface Reference {
  readonly operation: number;
  readonly installment: string | null;
  readonly payment: number;
}

const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SEPARATORS = /[/|:#\-. _]/g;
/** Shorter codes would be found inside anything. */
const SHORTEST_CODE_IN_TEXT = 4;

/** Letters and digits alone: what is left when systems pad, split and change case. */
const plain = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** Places in a text where a reference may stand: all of it, then each word. */
export const wordsOf = (text: string): readonly string[] => {
  const words = text.split(/\s+/);
  return words.length > 1 ? [text, ...words] : words;
};

/**
 * Finds what references name: an event id, `CODE/installment` (`/` never stands in a code, other separators may), a code alone, one
 * of these as a word among others, and last the same without regard to case and punctuation.
 */
export class References {
  readonly #payments: Payments;
  #events: Map<string, number> | undefined;
  #plainCodes: Map<string, number> | undefined;

  constructor(payments: Payments) {
    this.#payments = payments;
  }

  find(text: string): Reference | undefined {
    if (text === '') return undefined;
    if (EVENT_ID.test(text)) {
      const payment = this.#eventsById().get(text.toLowerCase());
      if (payment !== undefined)
        return { operation: this.#payments.operation.at(payment), installment: null, payment };
    }
    for (const word of wordsOf(text)) {
      const found = this.#named(word);
      if (found) return found;
    }
    return this.#namedPlainly(plain(text));
  }

  #named(word: string): Reference | undefined {
    const whole = this.#payments.findOperation(word);
    if (whole !== NONE) return { operation: whole, installment: null, payment: NONE };
    for (const { index } of [...word.matchAll(SEPARATORS)].toReversed()) {
      const operation = this.#payments.findOperation(word.slice(0, index));
      const rest = word.slice(index + 1);
      if (operation === NONE || rest === '') continue;
      const installment = this.#installmentOf(operation, rest);
      if (installment !== undefined) return { operation, installment, payment: NONE };
      if (word[index] === '/') return { operation, installment: rest, payment: NONE };
    }
    return undefined;
  }

  #namedPlainly(text: string): Reference | undefined {
    const codes = this.#codesPlainly();
    for (let length = text.length; length >= SHORTEST_CODE_IN_TEXT; length -= 1) {
      const operation = codes.get(text.slice(0, length)) ?? NONE;
      if (operation === NONE) continue;
      if (length === text.length) return { operation, installment: null, payment: NONE };
      const installment = this.#installmentOf(operation, text.slice(length));
      if (installment !== undefined) return { operation, installment, payment: NONE };
    }
    return undefined;
  }

  /** The operation's settled installment of that name, as it is written by the integrator. */
  #installmentOf(operation: number, name: string): string | undefined {
    const wanted = plain(name);
    for (let p = this.#payments.firstOf(operation); p !== NONE; p = this.#payments.after(p)) {
      const installment = this.#payments.installment.at(p);
      if (installment !== null && (installment === name || plain(installment) === wanted)) return installment;
    }
    return undefined;
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
