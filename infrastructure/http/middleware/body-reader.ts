import type { RequestHandler } from 'express';
import { declaredLength, letContinue } from '../bodies/body-headers.ts';
import { readBody, textOf } from '../bodies/read-body.ts';
import type { UploadArea } from '../bodies/upload-area.ts';
import type { UploadSession } from '../bodies/upload-session.ts';
import { parseForm } from '../requests/client-credentials.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';

/** Receives what a request carries; nothing of it is parsed yet. */
export class BodyReader {
  readonly #uploads: UploadArea;

  constructor(uploads: UploadArea) {
    this.#uploads = uploads;
  }

  /** JSON, or a form with JSON and files. @throws HttpProblem 400, 413, 429 @throws ClientGoneError */
  readonly read: RequestHandler = async (_req, res, next) => {
    const state = stateOf(res);
    const { kind, req } = state;
    if (kind?.form !== undefined) {
      state.uploads = await this.#session(state);
      letContinue(res);
      const { data, files } = await kind.form.receive(req, state.uploads);
      state.text = data;
      state.files = files;
    } else if (kind !== undefined) {
      letContinue(res);
      state.text = textOf(await readBody(req, kind.limit), kind.name);
    }
    next();
  };

  /** The form of the token endpoint, which has rules of its own for its fields. @throws HttpProblem 413 @throws ClientGoneError */
  readonly readForm: RequestHandler = async (_req, res, next) => {
    const state = stateOf(res);
    if (state.kind !== undefined) {
      letContinue(res);
      state.form = parseForm(await readBody(state.req, state.kind.limit));
    }
    next();
  };

  /** Waits for a place among the uploads under way; the request is not read before. */
  async #session(state: RequestState): Promise<UploadSession> {
    const { applicationId } = callerOf(state);
    const { req, res } = state;
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
}
