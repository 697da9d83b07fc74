/** How a language writes the parts of a value. `text` gets a string that may hold placeholders, such as `{code}-001`. */
export interface Notation {
  readonly key: (name: string) => string;
  readonly text: (text: string) => string;
  readonly trailingComma: boolean;
  readonly indent: string;
  /** Spaces between a brace and what it holds on one line. */
  readonly padding: string;
}

/** A line of a sample fits beside the text of the page. */
const WIDTH = 110;

const entriesOf = (value: object, notation: Notation): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map((entry: unknown) => ['', entry] as const)
    : Object.entries(value).map(([name, entry]) => [notation.key(name), entry] as const);

const onOneLine = (value: unknown, notation: Notation): string => {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = entriesOf(value, notation).map(([key, entry]) => key + onOneLine(entry, notation));
  const { padding } = notation;
  return Array.isArray(value) ? `[${inner.join(', ')}]` : `{${padding}${inner.join(', ')}${padding}}`;
};

/** A value as a literal; what stands on its first line before it takes `used` characters. */
export const literal = (value: unknown, notation: Notation, indent = '', used = 0): string => {
  const short = onOneLine(value, notation);
  if (typeof value !== 'object' || value === null || indent.length + used + short.length < WIDTH)
    return short;
  const inner = indent + notation.indent;
  const lines = entriesOf(value, notation).map(
    ([key, entry]) => `${inner}${key}${literal(entry, notation, inner, key.length)}`,
  );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}${notation.trailingComma ? ',' : ''}\n${indent}${close}`;
};
