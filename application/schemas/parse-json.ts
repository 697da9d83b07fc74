import { DomainError } from '../../domain/shared/domain-error.ts';
import { LONGEST_PATH, parseExactJson, readablePath } from './document-validators.ts';

/** Hostile texts are not sent back in full. */
export const quoted = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}...` : text);

/** Levels of lists and objects nested in one another. The deepest request of the interface has four. */
const DEEPEST = 20;
/** Commas and colons outside of strings. A full batch of settlements has some ten thousand, every other request fewer. */
const MOST_SEPARATORS = 40_000;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/** The position of the quote that ends the string which begins here, or the end of the text. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
};

/** Before parsing, so that code that walks the value never recurses deeper. @throws DomainError `invalid_request` */
const membersWritten = (text: string, what: string): number => {
  let depth = 0;
  let [members, commas] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        members += 1;
        break;
      case COMMA:
        commas += 1;
        break;
      case 91:
      case 123:
        depth += 1;
        if (depth > DEEPEST)
          throw new DomainError('invalid_request', `${what} is nested more than ${DEEPEST} levels deep`);
        break;
      case 93:
      case 125:
        depth -= 1;
    }
  }
  if (members + commas > MOST_SEPARATORS)
    throw new DomainError(
      'invalid_request',
      `${what} has more than ${MOST_SEPARATORS} commas and colons; send nothing but the fields of this request`,
    );
  return members;
};

/** How many members the objects of a parsed value have: of a name that came twice, one is left. */
const membersKept = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) members += membersKept(value[at]);
    return members;
  }
  // A parsed object inherits nothing that this would list, and a list of its names costs more.
  for (const name in value) members += 1 + membersKept((value as Readonly<Record<string, unknown>>)[name]);
  return members;
};

const SPACE = /[ \t\n\r]*/y;
/** Whether `SPACE` takes this character: a look at it costs less than the pattern, and most texts have none. */
const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13;
const TEXT = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

interface Flaw {
  readonly at: number;
  readonly why: string;
  readonly field?: string;
}

interface Level {
  /** Names of an object so far; undefined in a list. */
  readonly names: Set<string> | undefined;
  entry: string | number;
}

/** Finds the first flaw of a text that is known to have one; so it is never run for a request that is in order. */
class FlawFinder {
  readonly #text: string;
  readonly #levels: Level[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  find(): Flaw | undefined {
    const flaw = this.#value() ?? this.#rest();
    return flaw && this.#at >= this.#text.length ? { at: this.#at, why: 'it ends too early' } : flaw;
  }

  #rest(): Flaw | undefined {
    return this.#next() === '' ? undefined : this.#flaw('nothing may follow');
  }

  #flaw(why: string): Flaw {
    return { at: this.#at, why };
  }

  #next(): string {
    if (isSpace(this.#text.charCodeAt(this.#at))) this.#take(SPACE);
    return this.#text.charAt(this.#at);
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const isThere = pattern.test(this.#text);
    if (isThere) this.#at = pattern.lastIndex;
    return isThere;
  }

  #value(): Flaw | undefined {
    const first = this.#next();
    if (first === '"') return this.#string();
    if (first === '{') return this.#entries('}', new Set());
    if (first === '[') return this.#entries(']', undefined);
    return this.#take(SCALAR) ? undefined : this.#flaw('a value is expected here');
  }

  #string(): Flaw | undefined {
    this.#take(TEXT);
    if (this.#text.charAt(this.#at) !== '"')
      return this.#flaw('a control character or a wrong escape stands in a text here');
    this.#at += 1;
    return undefined;
  }

  #entries(end: '}' | ']', names: Level['names']): Flaw | undefined {
    const level: Level = { names, entry: -1 };
    this.#levels.push(level);
    this.#at += 1;
    for (let count = 0; count > 0 || this.#next() !== end; count += 1) {
      if (!names) level.entry = count;
      const flaw = (names && this.#name(level, names, count === 0)) ?? this.#value();
      if (flaw) return flaw;
      const after = this.#next();
      if (after === end) break;
      if (after !== ',') return this.#flaw(`a comma or ${end} is expected here`);
      this.#at += 1;
    }
    this.#at += 1;
    this.#levels.pop();
    return undefined;
  }

  #name(level: Level, names: Set<string>, isFirst: boolean): Flaw | undefined {
    if (this.#next() !== '"')
      return this.#flaw(`a name in double quotes ${isFirst ? 'or } ' : ''}is expected here`);
    const start = this.#at;
    const flaw = this.#string();
    if (flaw) return flaw;
    const written = this.#text.slice(start + 1, this.#at - 1);
    const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
    level.entry = quoted(name);
    if (names.has(name)) {
      const path = readablePath(this.#levels.map(({ entry }) => entry));
      return { at: start, why: '', field: path.slice(0, LONGEST_PATH) };
    }
    names.add(name);
    if (this.#next() !== ':') return this.#flaw('a colon is expected here');
    this.#at += 1;
    return undefined;
  }
}

const BYTE_ORDER_MARK = '\ufeff';

const placeOf = (text: string, at: number): string => {
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
};

const flawed = (text: string, what: string): DomainError => {
  if (text.startsWith(BYTE_ORDER_MARK))
    return new DomainError('invalid_request', `${what} begins with a byte order mark (BOM); send it without`);
  const flaw = new FlawFinder(text).find();
  if (flaw === undefined) return new DomainError('invalid_request', `${what} is not valid JSON`);
  const { at, why, field } = flaw;
  const place = placeOf(text, at);
  if (field === undefined)
    return new DomainError('invalid_request', `${what} is not valid JSON at ${place}: ${why}`);
  const message = `the second time at ${place}; send each name of an object once`;
  return new DomainError('invalid_request', `${what} holds ${field} twice, ${message}`, [
    { field, code: 'duplicate_field', message: `stands here twice, ${message}` },
  ]);
};

/** Names that came twice are told by counting, which costs little. @throws DomainError `invalid_request` */
export const parseJson = (text: string, what: string): unknown => {
  if (text === '') throw new DomainError('invalid_request', `${what} is empty; send a JSON object`);
  const members = membersWritten(text, what);
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch {
    throw flawed(text, what);
  }
  if (membersKept(value) !== members) throw flawed(text, what);
  return value;
};
