import type { Matching, Operation, Payment } from './matching.ts';

/** What a statement's reference names. */
export interface Reference {
  readonly operation: Operation;
  readonly installment: string | null;
  readonly payment: Payment | undefined;
}

const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SEPARATORS = /[/|:#\-. _]/g;
/** Shorter codes would be found inside anything. */
const SHORTEST_CODE_IN_TEXT = 4;

/** Letters and digits alone: what is left when systems pad, split and change case. */
export const plain = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');

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
  readonly #matching: Matching;
  #events: Map<string, Payment> | undefined;
  #plainCodes: Map<string, Operation | undefined> | undefined;

  constructor(matching: Matching) {
    this.#matching = matching;
  }

  find(text: string): Reference | undefined {
    if (text === '') return undefined;
    const payment = EVENT_ID.test(text) ? this.#eventsById().get(text.toLowerCase()) : undefined;
    if (payment) return { operation: payment.operation, installment: null, payment };
    for (const word of wordsOf(text)) {
      const found = this.#named(word);
      if (found) return found;
    }
    return this.#namedPlainly(plain(text));
  }

  #named(word: string): Reference | undefined {
    const whole = this.#matching.findOperation(word);
    if (whole) return { operation: whole, installment: null, payment: undefined };
    for (const { index } of [...word.matchAll(SEPARATORS)].toReversed()) {
      const operation = this.#matching.findOperation(word.slice(0, index));
      const rest = word.slice(index + 1);
      if (!operation || rest === '') continue;
      const installment = installmentOf(operation, rest);
      if (installment !== undefined) return { operation, installment, payment: undefined };
      if (word[index] === '/') return { operation, installment: rest, payment: undefined };
    }
    return undefined;
  }

  #namedPlainly(text: string): Reference | undefined {
    const codes = this.#codesPlainly();
    for (let length = text.length; length >= SHORTEST_CODE_IN_TEXT; length -= 1) {
      const operation = codes.get(text.slice(0, length));
      if (!operation) continue;
      if (length === text.length) return { operation, installment: null, payment: undefined };
      const installment = installmentOf(operation, text.slice(length));
      if (installment !== undefined) return { operation, installment, payment: undefined };
    }
    return undefined;
  }

  #eventsById(): ReadonlyMap<string, Payment> {
    this.#events ??= new Map(
      this.#matching.payments.map((payment) => [payment.eventId.toLowerCase(), payment]),
    );
    return this.#events;
  }

  /** Codes that look alike this way name nothing. */
  #codesPlainly(): ReadonlyMap<string, Operation | undefined> {
    if (this.#plainCodes) return this.#plainCodes;
    const codes = new Map<string, Operation | undefined>();
    for (const operation of this.#matching.operations()) {
      const key = plain(operation.code);
      codes.set(key, codes.has(key) ? undefined : operation);
    }
    this.#plainCodes = codes;
    return codes;
  }
}

/** The operation's settled installment of that name, as it is written by the integrator. */
const installmentOf = (operation: Operation, name: string): string | undefined => {
  const wanted = plain(name);
  for (const { installment } of operation.payments)
    if (installment !== null && (installment === name || plain(installment) === wanted)) return installment;
  return undefined;
};
