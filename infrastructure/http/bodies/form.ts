import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Request, Response } from 'express';
import multer, { MulterError } from 'multer';
import type { StorageEngine } from 'multer';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { BodyKind } from '../operation.ts';
import { FormStream, TextParts } from './form-stream.ts';
import { BoundedBuffer, textOf, tooLarge, tooMuch } from './read-body.ts';
import type { UploadSession } from './uploads.ts';

const FILES = 'files';
/** What stands for a byte that could not be read as UTF-8. */
const REPLACEMENT = '\uFFFD';

/** As the description says it. */
const FILES_TAKEN = 20;
const MOST_FILES = 40;
/** Of one form: its files and its data, refused parts included, and such that have no header. */
const MOST_PARTS = MOST_FILES + 1;
const HEADER_PAIRS = 16;

const quoted = (name: string): string => JSON.stringify(name.slice(0, 255));
const invalid = (message: string): HttpProblem => new HttpProblem('invalid_request', message);

/** Gives a form to the parser, and ends it when multer turns away from the parser before the form has ended. */
const feed = (form: FormStream, parser: Writable): void => {
  parser.once('unpipe', () => {
    if (!form.readableEnded) form.destroy();
  });
  form.pipe(parser);
};

/** One form that is being received: a JSON part, given as a field or as a file, and the parts named `files`. */
class Form {
  readonly #dataPart: string;
  readonly #limits: NonNullable<BodyKind['form']>;
  readonly #session: UploadSession;
  readonly #data: Promise<string>[] = [];
  readonly #files: Promise<ReceivedFile>[] = [];
  #texts = 0;

  /** @param session keeps the files, and removes them when the request ends */
  constructor(dataPart: string, limits: NonNullable<BodyKind['form']>, session: UploadSession) {
    this.#dataPart = dataPart;
    this.#limits = limits;
    this.#session = session;
  }

  async receive(req: IncomingMessage) {
    const begun = new TextParts(req.headers['content-type']);
    const watch = {
      stopping: this.#session.stopping,
      fileBytes: () => this.#session.bytes,
      look: (bytes: Buffer) => begun.beginIn(bytes).forEach((name) => this.#beginText(name)),
    };
    const fields = await FormStream.of(req, watch, (form) => this.#read(form));
    const texts = Object.entries(fields);
    if (begun.parts > texts.length + this.#data.length + this.#files.length)
      throw this.#otherParts(
        'a part lacks a readable header Content-Disposition: form-data, is application/octet-stream without a file name, or stands behind the end of the form',
      );
    const other = texts.find(([name]) => name !== this.#dataPart);
    if (other !== undefined) throw this.#textPart(other[0]);
    const given = [...texts.map(([, text]) => this.#utf8(text)), ...(await Promise.all(this.#data))];
    const [data] = given;
    if (data === undefined || given.length > 1)
      throw this.#notOneDataPart(data === undefined ? 'it is missing' : 'it came more than once');
    return { data, files: await Promise.all(this.#files) };
  }

  #read(form: FormStream): Promise<Record<string, unknown>> {
    const options = {
      // File names are compared with those of the documents, as they are.
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        files: MOST_FILES,
        fields: 1,
        parts: MOST_PARTS,
        fieldSize: this.#limits.dataBytes,
        fieldNestingDepth: 0,
        headerPairs: HEADER_PAIRS,
      },
      storage: this.#storage(form),
      streamHandler: feed,
    };
    const request = form as unknown as Request;
    return new Promise((resolve, reject) => {
      void multer(options).any()(request, {} as Response, (error?: unknown) => {
        const { body } = request as { readonly body?: Record<string, unknown> };
        if (form.errored !== null) reject(form.errored);
        else if (error !== undefined || body === undefined) reject(this.#refusalOf(error, form));
        else resolve(body);
      });
    });
  }

  #storage(form: FormStream): StorageEngine {
    return {
      _handleFile: (_req, { fieldname, originalname, stream }, done) => {
        const failed = (error: Error): void => {
          // Not when it is the form that failed. Multer alone would first wait for the files of before.
          if (stream.errored !== error) form.destroy(error);
          setImmediate(done, error);
        };
        try {
          this.#take(fieldname, originalname, stream).then(() => done(), failed);
        } catch (error) {
          failed(error as Error);
        }
      },
      _removeFile: (_req, _file, done) => done(null),
    };
  }

  #beginText(name: string): void {
    if (name !== this.#dataPart) throw this.#textPart(name);
    this.#ensureFirstData();
    this.#texts += 1;
  }

  #take(part: string, name: string, stream: Readable): Promise<unknown> {
    if (part === this.#dataPart) {
      this.#ensureFirstData();
      const text = this.#collect(stream);
      this.#data.push(text);
      return text;
    }
    if (part !== FILES) throw this.#unknownPart(part);
    if (this.#files.length === FILES_TAKEN)
      throw tooMuch(FILES, `a request may carry at most ${this.#files.length} files`);
    const place = { name, field: `${FILES}[${this.#files.length}]` };
    const file = this.#session.store(place, stream, this.#limits.fileBytes);
    this.#files.push(file);
    return file;
  }

  #ensureFirstData(): void {
    if (this.#data.length + this.#texts > 0) throw this.#notOneDataPart('it came more than once');
  }

  async #collect(stream: Readable): Promise<string> {
    const bytes = new BoundedBuffer(this.#limits.dataBytes);
    const chunks: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) if (!bytes.add(chunk)) throw this.#dataTooLarge();
    return textOf(bytes.content(), this.#dataPart);
  }

  #utf8(text: unknown): string {
    if (typeof text === 'string' && !text.includes(REPLACEMENT)) return text;
    throw invalid(
      `${this.#dataPart} is not valid UTF-8, or holds U+FFFD, which stands for what was not: write it as \\ufffd`,
    );
  }

  #refusalOf(error: unknown, { headers }: FormStream): HttpProblem {
    const { code, field }: { readonly code: string; readonly field?: string | undefined } =
      error instanceof MulterError ? error : { code: '' };
    switch (code) {
      case 'LIMIT_PART_COUNT':
      case 'LIMIT_FILE_COUNT':
        return tooMuch('body', 'the form has too many parts');
      case 'LIMIT_FIELD_VALUE':
        return field === this.#dataPart ? this.#dataTooLarge() : this.#textPart(field ?? '');
      case 'LIMIT_FIELD_COUNT':
        return this.#otherParts('it has a further part with text');
      case 'LIMIT_FIELD_NESTING':
      case 'MISSING_FIELD_NAME':
        return this.#unknownPart(field);
      default:
        return invalid(
          /;\s*boundary\s*=/i.test(headers['content-type'] ?? '')
            ? 'the body is not a complete multipart/form-data form'
            : 'the header Content-Type names no boundary; leave that header to the library that makes the form',
        );
    }
  }

  #unknownPart(name: string | undefined): HttpProblem {
    return this.#otherParts(name === undefined ? 'a part has no name' : `it has none named ${quoted(name)}`);
  }

  #textPart(name: string): HttpProblem {
    return name === FILES ? invalid(`a part named ${FILES} has no file name`) : this.#unknownPart(name);
  }

  #notOneDataPart(found: string): HttpProblem {
    return invalid(`the form needs exactly one part named ${this.#dataPart} with JSON text; ${found}`);
  }

  #dataTooLarge(): HttpProblem {
    return tooLarge(this.#dataPart, `the part ${quoted(this.#dataPart)}`, this.#limits.dataBytes);
  }

  #otherParts(found: string): HttpProblem {
    return invalid(`the form has one part named ${this.#dataPart} and parts named ${FILES}; ${found}`);
  }
}

/**
 * Receives one form, with its files straight to disk.
 * @throws HttpProblem `invalid_request`, `payload_too_large`, `rate_limited` @throws ClientGoneError
 */
export const receiveForm = (
  req: IncomingMessage,
  session: UploadSession,
  dataPart: string,
  limits: NonNullable<BodyKind['form']>,
) => new Form(dataPart, limits, session).receive(req);
