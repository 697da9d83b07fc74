const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const HEADER = 'Content-Disposition: form-data; name="';
const LONGEST_NAME = 255;
/** What browsers send for a field in which no file was chosen; the parser takes it for a text. */
const NO_FILE = /"; filename="$/;

/**
 * Multer tells of a text part once it is complete. Here its name is seen as soon as it has come, so that a form that cannot be right
 * is refused at once. Only the header as clients write it is looked for; multer judges whatever is written in another way.
 */
export class TextParts {
  readonly #start: string;
  #rest = Buffer.from('\r\n');
  #parts = 0;

  constructor(contentType = '') {
    const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
    this.#start = `\r\n--${quoted ?? plain}\r\n`;
  }

  /** How many parts of any kind have begun: multer says nothing of those that do not tell what they are. */
  get parts(): number {
    return this.#parts;
  }

  /** The names of the text parts that begin in these bytes, which follow those of before. */
  beginIn(bytes: Buffer): readonly string[] {
    const names: string[] = [];
    const all = Buffer.concat([this.#rest, bytes]);
    let read = 0;
    for (let at = all.indexOf(this.#start); at >= 0; at = all.indexOf(this.#start, read)) {
      read = at + this.#start.length;
      const from = read + HEADER.length;
      const header = all.toString('latin1', read, from);
      const isText = header === HEADER;
      const end = isText ? all.indexOf('"\r\n', from) : -1;
      const isWhole = isText ? end >= 0 || all.length - from > LONGEST_NAME : !HEADER.startsWith(header);
      if (!isWhole) {
        this.#keep(all, at);
        return names;
      }
      this.#parts += 1;
      const line = end >= 0 && end - from <= LONGEST_NAME ? all.toString('utf8', from, end) : '"';
      const name = line.replace(NO_FILE, '');
      if (!name.includes('"')) names.push(name);
    }
    this.#keep(all, Math.max(read, all.length - this.#start.length + 1));
    return names;
  }

  #keep(bytes: Buffer, from: number): void {
    this.#rest = Buffer.from(bytes.subarray(from));
  }
}
