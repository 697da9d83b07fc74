import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import type { Request, Response } from 'express';
import multer from 'multer';
import { FormParts } from './form-parts.ts';
import { FormRefusals } from './form-refusals.ts';
import { FormStream } from './form-stream.ts';
import type { FormLimits } from './form-stream.ts';
import { TextParts } from './text-parts.ts';
import type { UploadSession } from './upload-session.ts';

const MOST_FILES = 40;
/** Of one form: its files and its data, refused parts included, and such that have no header. */
const MOST_PARTS = MOST_FILES + 1;
const HEADER_PAIRS = 16;

/** Gives a form to the parser, and ends it when multer turns away from the parser before the form has ended. */
const feed = (form: FormStream, parser: Writable): void => {
  parser.once('unpipe', () => {
    if (!form.readableEnded) form.destroy();
  });
  form.pipe(parser);
};

/** Receives one form, with its files straight to disk. */
export class MultipartReceiver {
  readonly #dataPart: string;
  readonly #limits: FormLimits;
  readonly #refusals: FormRefusals;

  constructor(dataPart: string, limits: FormLimits) {
    this.#dataPart = dataPart;
    this.#limits = limits;
    this.#refusals = new FormRefusals(dataPart, limits.dataBytes);
  }

  /** @throws HttpProblem `invalid_request`, `payload_too_large`, `rate_limited` @throws ClientGoneError */
  async receive(req: IncomingMessage, session: UploadSession) {
    const parts = new FormParts(this.#dataPart, this.#limits, this.#refusals, session);
    const texts = new TextParts(req.headers['content-type']);
    const watch = {
      fileBytes: () => session.bytes,
      look: (bytes: Buffer) => texts.beginIn(bytes).forEach((name) => parts.beginText(name)),
    };
    const fields = await FormStream.of(req, this.#limits, watch, (form) => this.#read(form, parts));
    return parts.received(fields, texts.parts);
  }

  /** The text parts, once the form has ended and its files are stored. */
  #read(form: FormStream, parts: FormParts): Promise<Record<string, unknown>> {
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
      storage: parts.storage((error) => form.destroy(error)),
      streamHandler: feed,
    };
    const request = form as unknown as Request;
    return new Promise((resolve, reject) => {
      void multer(options).any()(request, {} as Response, (error?: unknown) => {
        const { body } = request as { readonly body?: Record<string, unknown> };
        if (form.errored !== null) reject(form.errored);
        else if (error !== undefined || body === undefined) reject(this.#refusals.of(error));
        else resolve(body);
      });
    });
  }
}
