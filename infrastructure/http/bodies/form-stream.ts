import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { ClientGoneError } from '../errors/http-problem.ts';
import { isCrumbled, tooLarge, tooManyPieces } from './read-body.ts';

/** Most bytes of a request with files. */
export const REQUEST_BYTES = 50 * 1_048_576;
/** Most bytes of one request outside its files: the data part, and what stands around and between the parts. */
const FORM_BYTES = 1_048_576;

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

interface FormWatch {
  /** Aborted with the refusal of what has not come whole by then. */
  readonly stopping: AbortSignal;
  readonly fileBytes: () => number;
  /** Looks at what comes before the parser does, and refuses it by throwing. */
  readonly look: (bytes: Buffer) => void;
}

const ignore = (): void => undefined;

/** The parser knows no parameter that is empty, as after a semicolon at the end (RFC 9110, section 5.6.6). */
const withoutEmptyParameters = (contentType = ''): string =>
  contentType
    .split(';')
    .filter((part) => part.trim() !== '')
    .join(';');
const gone = (): ClientGoneError => new ClientGoneError('closed while its form was being read');

/**
 * What stands for a request before a parser that drains whatever it reads from before it tells of a refusal: this stream is destroyed
 * then, and the request is left unread. It counts.
 */
export class FormStream extends Transform {
  readonly headers: IncomingMessage['headers'];
  readonly #watch: FormWatch;
  readonly #req: IncomingMessage;
  #received = 0;

  private constructor(req: IncomingMessage, watch: FormWatch) {
    // Files may still be stored after the end; what fails then destroys, too.
    super({ autoDestroy: false });
    this.headers = { ...req.headers, 'content-type': withoutEmptyParameters(req.headers['content-type']) };
    this.#req = req;
    this.#watch = watch;
  }

  /**
   * Reads a request for as long as `use` takes. The stream is destroyed with the reason when the client goes, or the form is too large.
   * @throws ClientGoneError, what `use` throws
   */
  static async of<T>(
    req: IncomingMessage,
    watch: FormWatch,
    use: (form: FormStream) => Promise<T>,
  ): Promise<T> {
    if (req.destroyed) throw gone();
    const form = new FormStream(req, watch);
    // A request that was read to its end closes, too, while its files are still being written.
    const end = (reason: Error): void => {
      if (!req.readableEnded) form.destroy(reason);
    };
    const onClose = (): void => end(gone());
    const onStop = (): void => end(watch.stopping.reason as Error);
    form.on('error', ignore);
    watch.stopping.addEventListener('abort', onStop);
    req.on('close', onClose).on('error', onClose).pipe(form);
    try {
      return await use(form);
    } finally {
      watch.stopping.removeEventListener('abort', onStop);
      req.off('close', onClose).off('error', onClose).unpipe(form);
      form.destroy();
    }
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      if (isCrumbled(this.#req)) throw tooManyPieces();
      this.#count(chunk.length);
      this.#watch.look(chunk);
      this.push(chunk);
    } catch (error) {
      this.destroy(error as Error);
    }
    done();
  }

  #count(bytes: number): void {
    this.#received += bytes;
    if (this.#received > REQUEST_BYTES) throw tooLarge('body', 'the request', REQUEST_BYTES);
    if (this.#received - this.#watch.fileBytes() > FORM_BYTES)
      throw tooLarge('body', 'the form without its files', FORM_BYTES);
  }
}
