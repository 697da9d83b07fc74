import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { ClientGoneError } from '../errors/http-problem.ts';
import { isCrumbled, tooLarge, tooManyPieces } from './read-body.ts';

export interface FormLimits {
  readonly requestBytes: number;
  /** Most bytes of one request outside its files: the data part, and what stands around and between the parts. */
  readonly formBytes: number;
  readonly fileBytes: number;
  readonly files: number;
  readonly dataBytes: number;
}

interface FormWatch {
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
  readonly #limits: FormLimits;
  readonly #watch: FormWatch;
  readonly #req: IncomingMessage;
  #received = 0;

  private constructor(req: IncomingMessage, limits: FormLimits, watch: FormWatch) {
    // Files may still be stored after the end; what fails then destroys, too.
    super({ autoDestroy: false });
    this.headers = { ...req.headers, 'content-type': withoutEmptyParameters(req.headers['content-type']) };
    this.#req = req;
    this.#limits = limits;
    this.#watch = watch;
  }

  /**
   * Reads a request for as long as `use` takes. The stream is destroyed with the reason when the client goes, or the form is too large.
   * @throws ClientGoneError, what `use` throws
   */
  static async of<T>(
    req: IncomingMessage,
    limits: FormLimits,
    watch: FormWatch,
    use: (form: FormStream) => Promise<T>,
  ): Promise<T> {
    if (req.destroyed) throw gone();
    const form = new FormStream(req, limits, watch);
    // A request that was read to its end closes, too, while its files are still being written.
    const onClose = (): void => {
      if (!req.readableEnded) form.destroy(gone());
    };
    form.on('error', ignore);
    req.on('close', onClose).on('error', onClose).pipe(form);
    try {
      return await use(form);
    } finally {
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
    const { requestBytes, formBytes } = this.#limits;
    this.#received += bytes;
    if (this.#received > requestBytes) throw tooLarge('body', 'the request', requestBytes);
    if (this.#received - this.#watch.fileBytes() > formBytes)
      throw tooLarge('body', 'the form without its files', formBytes);
  }
}
