import type { Readable } from 'node:stream';
import type { StorageEngine } from 'multer';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { FILES } from './form-refusals.ts';
import type { FormRefusals } from './form-refusals.ts';
import type { FormLimits } from './form-stream.ts';
import { BoundedBuffer, textOf, tooMuch } from './read-body.ts';
import type { UploadSession } from './upload-session.ts';

/** What stands for a byte that could not be read as UTF-8. */
const REPLACEMENT = '\uFFFD';

/** What has come of a form so far: a JSON part, given as a field or as a file, and the parts named `files`. */
export class FormParts {
  readonly #dataPart: string;
  readonly #limits: FormLimits;
  readonly #refusals: FormRefusals;
  readonly #session: UploadSession;
  readonly #data: Promise<string>[] = [];
  readonly #files: Promise<ReceivedFile>[] = [];
  #texts = 0;

  constructor(dataPart: string, limits: FormLimits, refusals: FormRefusals, session: UploadSession) {
    this.#dataPart = dataPart;
    this.#limits = limits;
    this.#refusals = refusals;
    this.#session = session;
  }

  /** A text part begins. @throws HttpProblem `invalid_request` when there may be none of this name */
  beginText(name: string): void {
    if (name !== this.#dataPart) throw this.#refusals.textPart(name);
    this.#ensureFirstData();
    this.#texts += 1;
  }

  /**
   * Keeps files in the session, which removes them when the request ends.
   * @param refuse ends the reading of the form
   */
  storage(refuse: (error: Error) => void): StorageEngine {
    return {
      _handleFile: (_req, { fieldname, originalname, stream }, done) => {
        const failed = (error: Error): void => {
          // Not when it is the form that failed. Multer alone would first wait for the files of before.
          if (stream.errored !== error) refuse(error);
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

  /**
   * The text of the data part, and the files.
   * @param fields the text parts by their names
   * @param begun how many parts came, those included that the parser passed over
   * @throws HttpProblem `invalid_request`
   */
  async received(fields: Readonly<Record<string, unknown>>, begun: number) {
    const texts = Object.entries(fields);
    if (begun > texts.length + this.#data.length + this.#files.length) throw this.#refusals.unreadPart();
    const other = texts.find(([name]) => name !== this.#dataPart);
    if (other !== undefined) throw this.#refusals.textPart(other[0]);
    const given = [...texts.map(([, text]) => this.#utf8(text)), ...(await Promise.all(this.#data))];
    const [data] = given;
    if (data === undefined || given.length > 1)
      throw this.#refusals.notOneDataPart(data === undefined ? 'it is missing' : 'it came more than once');
    return { data, files: await Promise.all(this.#files) };
  }

  #take(part: string, name: string, stream: Readable): Promise<unknown> {
    if (part === this.#dataPart) {
      this.#ensureFirstData();
      const text = this.#collect(stream);
      this.#data.push(text);
      return text;
    }
    if (part !== FILES) throw this.#refusals.unknownPart(part);
    if (this.#files.length === this.#limits.files)
      throw tooMuch(FILES, `a request may carry at most ${this.#files.length} files`);
    const place = { name, field: `${FILES}[${this.#files.length}]` };
    const file = this.#session.store(place, stream, this.#limits.fileBytes);
    this.#files.push(file);
    return file;
  }

  #ensureFirstData(): void {
    if (this.#data.length + this.#texts > 0) throw this.#refusals.notOneDataPart('it came more than once');
  }

  async #collect(stream: Readable): Promise<string> {
    const bytes = new BoundedBuffer(this.#limits.dataBytes);
    const chunks: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) if (!bytes.add(chunk)) throw this.#refusals.dataTooLarge();
    return textOf(bytes.content(), this.#dataPart);
  }

  #utf8(text: unknown): string {
    if (typeof text === 'string' && !text.includes(REPLACEMENT)) return text;
    const message = `${this.#dataPart} is not valid UTF-8, or holds U+FFFD, which stands for what was not: write it as \\ufffd`;
    throw new HttpProblem('invalid_request', message);
  }
}
