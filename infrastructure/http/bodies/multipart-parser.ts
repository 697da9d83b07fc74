import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { ClientGoneError, HttpProblem } from '../errors/http-problem.ts';
import { tooLarge } from './read-body.ts';

interface PartDisposition {
  readonly name: string | undefined;
  readonly fileName: string | undefined;
}

const EXTENDED = /^utf-8'[^']*'/i;
/** Browsers percent-encode these three characters of a file name, and no other. */
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
const partDisposition = (header: string | undefined): PartDisposition | undefined => {
  if (header === undefined || !/^form-data\s*(?:;|$)/i.test(header)) return undefined;
  const parameters = parametersOf(header);
  const name = parameters.get('name');
  const plain = parameters.get('filename');
  const fileName =
    extended(parameters.get('filename*') ?? '') ?? (plain === undefined ? undefined : asText(plain));
  return { name: name === undefined ? undefined : asText(name), fileName };
};

export interface FormLimits {
  /** Most bytes of one request. */
  readonly requestBytes: number;
  /** Most bytes of one request outside its files: the data part, and what stands around and between the parts. */
  readonly formBytes: number;
}

export interface FormPart extends PartDisposition {
  readonly stream: Readable;
}

export interface FormReader {
  /** Consumes a part, and refuses it by throwing. */
  take(part: FormPart): Promise<unknown>;
  /** Bytes of files that were consumed. */
  readonly fileBytes: () => number;
}

const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
/** For one part; the longest headers that clients need hold a file name of 255 characters in two notations. */
const HEADER_LIMITS = { maxHeaderPairs: 16, maxHeaderSize: 8192 } as const;
/** Most parts of one form, refused ones included. */
const MOST_PARTS = 40;
/** Delimiters cost the parser most. It is fed slices of this size, so that it can be stopped between them. */
const SLICE_BYTES = 4096;

const ignore = (): void => undefined;

export const malformed = (): HttpProblem =>
  new HttpProblem('invalid_request', 'the body is not a complete multipart/form-data form');

const parserFor = (req: IncomingMessage): Dicer => {
  const [, quoted, plain] = BOUNDARY.exec(req.headers['content-type'] ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed();
  return new Dicer({ boundary, ...HEADER_LIMITS });
};

const partOf = (stream: Readable, header: Readonly<Record<string, readonly string[]>>): FormPart => {
  const disposition = partDisposition(header['content-disposition']?.[0]);
  if (disposition === undefined) throw malformed();
  return { ...disposition, stream };
};

const gone = (): ClientGoneError => new ClientGoneError('closed while its form was being read');

/** Reads one form. */
class FormReading {
  readonly #req: IncomingMessage;
  readonly #limits: FormLimits;
  readonly #reader: FormReader;
  readonly #parser: Dicer;
  readonly #parsed = Promise.withResolvers<void>();
  readonly #streams: Readable[] = [];
  readonly #taken: Promise<unknown>[] = [];
  #received = 0;
  #failed = false;

  /** @throws HttpProblem `invalid_request` */
  constructor(req: IncomingMessage, limits: FormLimits, reader: FormReader) {
    this.#req = req;
    this.#limits = limits;
    this.#reader = reader;
    this.#parser = parserFor(req);
  }

  async read(): Promise<void> {
    const req = this.#req;
    const onData = (chunk: Buffer): void => this.#parse(chunk);
    const onEnd = (): void => void this.#parser.end();
    const onClose = (): void => this.#closed();
    this.#listen();
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    try {
      await this.#parsed.promise;
      await Promise.all(this.#taken);
    } catch (error) {
      req.pause();
      for (const stream of [this.#parser, ...this.#streams]) stream.destroy();
      throw error;
    } finally {
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    }
  }

  #listen(): void {
    this.#parser
      .on('part', (stream: Readable) => this.#begin(stream))
      .on('error', () => this.#fail(malformed()))
      .on('drain', () => this.#req.resume())
      .on('finish', this.#parsed.resolve);
  }

  readonly #fail = (error: unknown): void => {
    this.#failed = true;
    this.#parsed.reject(error);
  };

  /** A request that was read to its end closes, too, while its files are still being written. */
  #closed(): void {
    if (!this.#req.readableEnded) this.#fail(gone());
  }

  #parse(chunk: Buffer): void {
    const { requestBytes, formBytes } = this.#limits;
    this.#received += chunk.length;
    if (this.#received > requestBytes) this.#fail(tooLarge('the request', requestBytes));
    else if (this.#received - this.#reader.fileBytes() > formBytes)
      this.#fail(tooLarge('the form without its files', formBytes));
    for (let at = 0; at < chunk.length && !this.#failed; at += SLICE_BYTES)
      this.#parser.write(chunk.subarray(at, at + SLICE_BYTES));
    if (this.#parser.writableNeedDrain) this.#req.pause();
  }

  /** A form that ends too early fails in its last part, whether or not that is still being read. */
  #begin(stream: Readable): void {
    this.#streams.push(stream.on('error', ignore));
    if (this.#streams.length > MOST_PARTS) {
      this.#fail(new HttpProblem('payload_too_large', 'the form has too many parts'));
    }
    stream.once('header', (header: Record<string, string[]>) => this.#take(stream, header));
  }

  #take(stream: Readable, header: Record<string, string[]>): void {
    if (this.#failed) return;
    try {
      const consumed = this.#reader.take(partOf(stream, header));
      this.#taken.push(consumed);
      consumed.catch(this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  }
}

/**
 * Reads the form of a request part by part. Each part is handed on as soon as its header has come, so that no part is held in memory
 * that the reader did not take. Once this has ended, in success or failure, nothing of the form is read any more.
 * @throws HttpProblem `invalid_request`, `payload_too_large`, what `take` throws @throws ClientGoneError
 */
export const readForm = async (
  req: IncomingMessage,
  limits: FormLimits,
  reader: FormReader,
): Promise<void> => {
  if (req.destroyed) throw gone();
  await new FormReading(req, limits, reader).read();
};
