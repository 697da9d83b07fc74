import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Request } from 'express';
import type { StorageEngine } from 'multer';
import { tooLarge } from './read-body.ts';
import type { UploadSession } from './upload-area.ts';

type Done = (error?: unknown, info?: Partial<Express.Multer.File>) => void;

/** Where multer puts what it finds: files to the request's session on disk, a JSON part that came as a file to memory. */
export class UploadStorage implements StorageEngine {
  readonly #dataPart: string;
  readonly #dataBytes: number;
  readonly #sessions = new WeakMap<IncomingMessage, UploadSession>();

  constructor(dataPart: string, dataBytes: number) {
    this.#dataPart = dataPart;
    this.#dataBytes = dataBytes;
  }

  attach(req: IncomingMessage, session: UploadSession): void {
    this.#sessions.set(req, session);
  }

  _handleFile(req: Request, file: Express.Multer.File, done: Done): void {
    const stored =
      file.fieldname === this.#dataPart ? this.#collect(file.stream) : this.#store(req, file.stream);
    stored.then((info) => done(undefined, info), done);
  }

  /** The session removes its files itself, all at once, whatever happened. */
  _removeFile(_req: Request, _file: Express.Multer.File, done: (error: Error | null) => void): void {
    done(null);
  }

  async #store(req: Request, stream: Readable): Promise<object> {
    const session = this.#sessions.get(req);
    if (session === undefined) throw new Error('a form is received within a session');
    return session.store(stream);
  }

  async #collect(stream: Readable): Promise<Partial<Express.Multer.File>> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > this.#dataBytes) throw tooLarge(`the part ${this.#dataPart}`, this.#dataBytes);
      chunks.push(chunk);
    }
    return { buffer: Buffer.concat(chunks), size };
  }
}
