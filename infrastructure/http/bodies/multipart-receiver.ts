import type { IncomingMessage } from 'node:http';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { BoundedBuffer, textOf, tooLarge } from './read-body.ts';
import { readForm } from './multipart-parser.ts';
import type { FormLimits, FormPart } from './multipart-parser.ts';
import type { UploadSession } from './upload-session.ts';

export interface MultipartLimits extends FormLimits {
  /** Most bytes of one file. */
  readonly fileBytes: number;
  readonly files: number;
  /** Most bytes of the JSON part. */
  readonly dataBytes: number;
}

export interface ReceivedForm {
  /** Text of the data part. */
  readonly data: string;
  readonly files: readonly ReceivedFile[];
}

/** The name of the parts that are files. */
const FILES = 'files';

/** What has come of a form so far. */
interface Parts {
  readonly data: Promise<string>[];
  readonly files: Promise<ReceivedFile>[];
}

/** Receives one form: a JSON part, given as a field or as a file, and the parts named `files`, straight to disk. */
export class MultipartReceiver {
  readonly #dataPart: string;
  readonly #limits: MultipartLimits;

  constructor(dataPart: string, limits: MultipartLimits) {
    this.#dataPart = dataPart;
    this.#limits = limits;
  }

  /** @throws HttpProblem `invalid_request`, `payload_too_large`, `rate_limited` @throws ClientGoneError */
  async receive(req: IncomingMessage, session: UploadSession): Promise<ReceivedForm> {
    const parts: Parts = { data: [], files: [] };
    await readForm(req, this.#limits, {
      take: (part) => this.#take(part, parts, session),
      fileBytes: () => session.bytes,
    });
    const [data] = await Promise.all(parts.data);
    if (data === undefined) throw this.#notOneDataPart('it is missing');
    return { data, files: await Promise.all(parts.files) };
  }

  #take(part: FormPart, { data, files }: Parts, session: UploadSession): Promise<unknown> {
    if (part.name === this.#dataPart) {
      if (data.length > 0) throw this.#notOneDataPart('it came more than once');
      const text = this.#collect(part.stream);
      data.push(text);
      return text;
    }
    if (part.name !== FILES) throw this.#unknownPart(part);
    if (files.length === this.#limits.files) {
      throw new HttpProblem('payload_too_large', `a request may carry at most ${files.length} files`);
    }
    if (part.fileName === undefined) {
      throw new HttpProblem('invalid_request', `a part named ${FILES} has no file name`);
    }
    const file = session.store(part.fileName, part.stream, this.#limits.fileBytes);
    files.push(file);
    return file;
  }

  async #collect(stream: AsyncIterable<Buffer>): Promise<string> {
    const limit = this.#limits.dataBytes;
    const bytes = new BoundedBuffer(limit);
    for await (const chunk of stream)
      if (!bytes.add(chunk)) throw tooLarge(`the part ${quoted(this.#dataPart)}`, limit);
    return textOf(bytes.content(), this.#dataPart);
  }

  #unknownPart({ name }: FormPart): HttpProblem {
    const found = name === undefined ? 'a part has no name' : `it has none named ${quoted(name)}`;
    return new HttpProblem(
      'invalid_request',
      `the form has one part named ${this.#dataPart} and parts named ${FILES}; ${found}`,
    );
  }

  #notOneDataPart(found: string): HttpProblem {
    const message = `the form needs exactly one part named ${this.#dataPart} with JSON text; ${found}`;
    return new HttpProblem('invalid_request', message);
  }
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 255));
