export interface PartDisposition {
  readonly name: string | undefined;
  readonly fileName: string | undefined;
}

const EXTENDED = /^utf-8'[^']*'/i;
/** Browsers write these three so, and leave every other character as it is. */
const ESCAPED: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** Where the quoted text that begins here ends. */
const closingQuote = (text: string, start: number): number => {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' && text[at + 1] === '"' ? 2 : 1;
  return at;
};

/** Headers come as bytes; names in them are UTF-8. */
const asText = (bytes: string): string =>
  Buffer.from(bytes, 'latin1')
    .toString('utf8')
    .replaceAll('\\"', '"')
    .replaceAll(/%(?:22|0D|0A)/g, (code) => ESCAPED[code] ?? code);

const extended = (value: string): string | undefined => {
  const charset = EXTENDED.exec(value)?.[0];
  if (charset === undefined) return undefined;
  try {
    return decodeURIComponent(value.slice(charset.length));
  } catch {
    return undefined;
  }
};

const parametersOf = (header: string): ReadonlyMap<string, string> => {
  const parameters = new Map<string, string>();
  for (let at = header.indexOf(';'); at >= 0 && at < header.length;) {
    const equals = header.indexOf('=', at);
    if (equals < 0) break;
    const name = header
      .slice(at + 1, equals)
      .trim()
      .toLowerCase();
    const quoted = header[equals + 1] === '"';
    const start = quoted ? equals + 2 : equals + 1;
    const semicolon = header.indexOf(';', start);
    const end = quoted ? closingQuote(header, start) : semicolon < 0 ? header.length : semicolon;
    parameters.set(name, quoted ? header.slice(start, end) : header.slice(start, end).trim());
    at = header.indexOf(';', end);
  }
  return parameters;
};

/**
 * What a part's Content-Disposition says, as bytes; undefined when it is not one of a form. File names are not normalised,
 * because they are compared with those of the documents; the extended notation wins, where a client sends both.
 */
export const partDisposition = (header: string | undefined): PartDisposition | undefined => {
  if (header === undefined || !/^form-data\s*(?:;|$)/i.test(header)) return undefined;
  const parameters = parametersOf(header);
  const name = parameters.get('name');
  const plain = parameters.get('filename');
  const fileName =
    extended(parameters.get('filename*') ?? '') ?? (plain === undefined ? undefined : asText(plain));
  return { name: name === undefined ? undefined : asText(name), fileName };
};
