import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import multer, { MulterError } from 'multer';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { ClientGoneError, HttpProblem } from '../errors/http-problem.ts';
import { tooLarge } from './read-body.ts';
import { UploadStorage } from './upload-storage.ts';
import type { UploadSession } from './upload-area.ts';

export interface MultipartLimits {
  /** Most bytes of one request. */
  readonly requestBytes: number;
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

/** What multer makes of a file, with what the storage added. */
type UploadedFile = Express.Multer.File & { readonly sha256: string };
type Middleware = (req: Request, res: Response, next: (error?: unknown) => void) => void;

const FILES = 'files';
/** Small parts that nobody asked for are ignored, up to here. */
const OTHER_PARTS = 20;

/** Receives one form: a JSON part, given as a field or as a file, and the parts named `files`, straight to disk. */
export class MultipartReceiver {
  readonly #dataPart: string;
  readonly #limits: MultipartLimits;
  readonly #storage: UploadStorage;
  readonly #middleware: Middleware;

  constructor(dataPart: string, limits: MultipartLimits) {
    this.#dataPart = dataPart;
    this.#limits = limits;
    this.#storage = new UploadStorage(dataPart, limits.dataBytes);
    this.#middleware = multer({
      storage: this.#storage,
      // Names are compared with the documents byte by byte: decode them as UTF-8 and keep whatever looks like a path.
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        fileSize: limits.fileBytes,
        fieldSize: limits.dataBytes,
        files: limits.files + 1,
        fields: OTHER_PARTS,
        parts: limits.files + OTHER_PARTS,
        fieldNestingDepth: 0,
      },
      fileFilter: (_req, file, done) => {
        if (file.fieldname === FILES || file.fieldname === dataPart) done(null, true);
        else
          done(
            new HttpProblem(
              'invalid_request',
              `send files in parts named ${FILES}, not ${quoted(file.fieldname)}`,
            ),
          );
      },
    }).any() as Middleware;
  }

  /** @throws HttpProblem `invalid_request`, `payload_too_large` @throws ClientGoneError */
  async receive(req: IncomingMessage, res: ServerResponse, session: UploadSession): Promise<ReceivedForm> {
    this.#storage.attach(req, session);
    await this.#parse(req as Request, res as Response);
    const form = req as { readonly body?: Record<string, unknown>; readonly files?: readonly UploadedFile[] };
    const uploaded = form.files ?? [];
    if (uploaded.filter(({ fieldname }) => fieldname === FILES).length > this.#limits.files)
      throw this.#tooManyFiles();
    return { data: this.#dataOf(form.body, uploaded), files: uploaded.flatMap(receivedFile) };
  }

  #parse(req: Request, res: Response): Promise<void> {
    const limit = this.#limits.requestBytes;
    return new Promise((resolve, reject) => {
      let size = 0;
      req.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > limit) reject(tooLarge('the request', limit));
      });
      this.#middleware(req, res, (error?: unknown) => {
        if (error === undefined) resolve();
        else reject(this.#problemOf(error, req));
      });
    });
  }

  #dataOf(fields: Record<string, unknown> | undefined, files: readonly UploadedFile[]): string {
    const sent = [
      ...[fields?.[this.#dataPart] ?? []].flat(),
      ...files
        .filter(({ fieldname }) => fieldname === this.#dataPart)
        .map(({ buffer }) => buffer.toString('utf8')),
    ];
    const [data] = sent;
    if (sent.length === 1 && typeof data === 'string') return data;
    const found = sent.length === 0 ? 'it is missing' : `it came ${sent.length} times`;
    throw new HttpProblem(
      'invalid_request',
      `the form needs exactly one part named ${this.#dataPart} with JSON text; ${found}`,
    );
  }

  #tooManyFiles(): HttpProblem {
    return new HttpProblem('payload_too_large', `a request may carry at most ${this.#limits.files} files`);
  }

  #problemOf(error: unknown, req: IncomingMessage): Error {
    if (error instanceof HttpProblem) return error;
    if (!req.complete && req.destroyed) return new ClientGoneError('closed while its form was being read');
    if (error instanceof MulterError) return this.#limitProblem(error);
    return storageFailure(error) ?? malformed();
  }

  #limitProblem(error: MulterError & { readonly filename?: string }): HttpProblem {
    const { code, filename = '', field = '' } = error;
    if (code === 'LIMIT_FILE_SIZE') return tooLarge(`the file ${quoted(filename)}`, this.#limits.fileBytes);
    if (code === 'LIMIT_FILE_COUNT') return this.#tooManyFiles();
    if (code === 'LIMIT_FIELD_VALUE') return tooLarge(`the part ${quoted(field)}`, this.#limits.dataBytes);
    if (code === 'LIMIT_PART_COUNT' || code === 'LIMIT_FIELD_COUNT') {
      return new HttpProblem('payload_too_large', 'the form has too many parts');
    }
    return malformed();
  }
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 255));

const malformed = (): HttpProblem =>
  new HttpProblem('invalid_request', 'the body is not a complete multipart/form-data form');

/** A full or broken disk is ours to answer for, not the client's. */
const storageFailure = (error: unknown): Error | undefined =>
  error instanceof Error && 'syscall' in error ? error : undefined;

const receivedFile = ({
  fieldname,
  originalname,
  size,
  path,
  sha256,
}: UploadedFile): readonly ReceivedFile[] =>
  fieldname === FILES ? [{ name: originalname, size, sha256, path }] : [];
