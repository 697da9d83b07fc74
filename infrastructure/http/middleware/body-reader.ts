import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '../../../application/ports/clients.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { declaredLength, letContinue, parseJson, readBody, textOf } from '../bodies/read-body.ts';
import type { UploadArea } from '../bodies/upload-area.ts';
import type { UploadSession } from '../bodies/upload-session.ts';
import { parseForm } from '../requests/client-credentials.ts';
import { refusalFor } from '../requests/refusal.ts';
import { asDraft } from '../requests/request-rules.ts';
import type { RequestRules } from '../requests/request-rules.ts';
import { requireMatchingFiles } from '../requests/uploaded-files.ts';
import { MOST_VIOLATIONS, withoutRepetitions } from '../../../application/schemas/violations.ts';
import type { Exchange } from './request-state.ts';
import type { BodyKind, Handler, Operation } from '../operation.ts';

/** A body that keeps every rule of its operation, and the files that came with it. */
export interface Contents {
  readonly body: unknown;
  readonly files: readonly ReceivedFile[];
  /** Who sent its secret in it. */
  readonly client?: Client;
}

const NO_FILES: readonly ReceivedFile[] = [];
export const NOTHING: Contents = { body: undefined, files: NO_FILES };

/** A text of this length takes some milliseconds to parse and check. */
const LARGE_TEXT = 32 * 1024;

/** Reads what a request carries and checks its shape. */
export class Reception {
  readonly #uploads: UploadArea;
  readonly #rules: RequestRules;
  #lastLarge: Promise<void> = Promise.resolve();

  constructor(uploads: UploadArea, rules: RequestRules) {
    this.#uploads = uploads;
    this.#rules = rules;
  }

  /** @throws HttpProblem 400, 413, 429 @throws ClientGoneError */
  async receive({ handler }: Operation, kind: BodyKind, exchange: Exchange): Promise<Contents> {
    const { req, res } = exchange;
    if (kind.form === undefined) {
      letContinue(res);
      const text = textOf(await readBody(req, kind.limit), kind.name);
      return { body: await this.#checked(handler, kind, text), files: NO_FILES };
    }
    exchange.uploads = await this.#session(exchange);
    letContinue(res);
    const { data, files } = await kind.form.receive(req, exchange.uploads);
    const body = await this.#checked(handler, kind, data);
    requireMatchingFiles(handler.fileNames?.(body) ?? [], files);
    return { body, files };
  }

  /** Waits for a place among the uploads under way; the request is not read before. */
  async #session({ req, res, applicationId }: Exchange): Promise<UploadSession> {
    if (applicationId === undefined) throw new Error('files are sent with a token');
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    res.once('close', leave);
    if (res.destroyed || req.destroyed) leave();
    try {
      const declaredBytes = declaredLength(req);
      return await this.#uploads.session({ applicationId, declaredBytes, signal: gone.signal });
    } finally {
      res.off('close', leave);
    }
  }

  /** A form whose fields the handler judges itself: the token endpoint has rules of its own for what is wrong with them. */
  async receiveForm(kind: BodyKind, { req, res }: Exchange): Promise<URLSearchParams> {
    letContinue(res);
    return parseForm(await readBody(req, kind.limit));
  }

  /** Large texts are taken one a turn of the event loop: however many arrive together, a small request waits for one of them. */
  #turn(text: string): Promise<void> | undefined {
    if (text.length < LARGE_TEXT) return undefined;
    this.#lastLarge = this.#lastLarge.then(() => nextTurn());
    return this.#lastLarge;
  }

  /** @throws HttpProblem `validation_error` with everything that is wrong */
  async #checked(handler: Handler, kind: BodyKind, text: string): Promise<unknown> {
    await this.#turn(text);
    const { value: body, violations: unrecognised } = kind.recognise(parseJson(text, kind.name));
    const violations = [...unrecognised, ...kind.validate(body)];
    const draft = handler.crossCheck && asDraft(body);
    const crossed = draft ? (handler.crossCheck?.(draft, this.#rules, kind.name) ?? []) : [];
    if (violations.length > 0 || crossed.length > 0) {
      throw refusalFor(withoutRepetitions([...violations, ...crossed]).slice(0, MOST_VIOLATIONS));
    }
    return body;
  }
}
