const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const LONGEST_NAME = 255;

/**
 * Multer tells of a text part once it is complete. Here its name is seen as soon as it has come, so that a form that cannot be right
 * is refused at once. Only the header as clients write it is looked for; multer judges whatever is written in another way.
 */
export class TextParts {
  readonly #start: string;
  #rest = Buffer.from('\r\n');

  constructor(contentType = '') {
    const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
    this.#start = `\r\n--${quoted ?? plain}\r\nContent-Disposition: form-data; name="`;
  }

  /** The names of the text parts that begin in these bytes, which follow those of before. */
  beginIn(bytes: Buffer): readonly string[] {
    const names: string[] = [];
    const all = Buffer.concat([this.#rest, bytes]);
    let read = 0;
    for (let at = all.indexOf(this.#start); at >= 0; at = all.indexOf(this.#start, read)) {
      const from = at + this.#start.length;
      const end = all.indexOf('"\r\n', from);
      if (end < 0 && all.length - from <= LONGEST_NAME) {
        this.#keep(all, at);
        return names;
      }
      read = from;
      const name = end >= 0 && end - from <= LONGEST_NAME ? all.toString('utf8', from, end) : '"';
      if (!name.includes('"')) names.push(name);
    }
    this.#keep(all, Math.max(read, all.length - this.#start.length + 1));
    return names;
  }

  #keep(bytes: Buffer, from: number): void {
    this.#rest = Buffer.from(bytes.subarray(from));
  }
}
