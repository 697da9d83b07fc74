import type { Request, RequestHandler } from 'express';
import { declaredLength, hasForeignCharset, isEncoded, mediaTypeOf, tooLarge } from '../bodies/read-body.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { BodyKind, Operation } from '../operation.ts';
import { stateOf } from './request-state.ts';

/** Most bytes of a body that an operation without one ignores. */
const IGNORED_BODY = 1_048_576;

const unsupported = (message: string): HttpProblem => new HttpProblem('unsupported_media_type', message);

const requireBody = (req: Request, { bodies }: Operation, length: number | undefined): BodyKind => {
  const mediaType = mediaTypeOf(req);
  const kind = bodies.find((body) => body.mediaType === mediaType);
  if (length !== undefined && length > (kind ?? largest(bodies)).limit) {
    throw tooLarge('the body', (kind ?? largest(bodies)).limit);
  }
  const offered = bodies.map((body) => body.mediaType).join(' or ');
  if (kind === undefined) {
    // Nothing was sent: the body is missing rather than of the wrong type.
    if (mediaType === undefined && length === 0) return bodies[0] ?? missingKind();
    throw unsupported(`send the body as ${offered}`);
  }
  if (isEncoded(req)) throw unsupported('send the body without Content-Encoding');
  if (kind.form === undefined && hasForeignCharset(req)) throw unsupported('send the body in UTF-8');
  return kind;
};

const largest = (bodies: readonly BodyKind[]): BodyKind =>
  bodies.reduce((most, body) => (body.limit > most.limit ? body : most));

const missingKind = (): never => {
  throw new Error('an operation with a body names its media type');
};

const requireAcceptable = (req: Request, produces: readonly string[]): void => {
  const accept = req.headers.accept;
  if (accept === undefined || accept === '*/*' || produces.includes(accept)) return;
  if (req.accepts([...produces]) !== false) return;
  const offered = produces.join(' or ');
  throw new HttpProblem('not_acceptable', `this is answered as ${offered} only; include it in Accept`);
};

const requireHost = (req: Request): void => {
  if (req.headers.host === undefined && req.httpVersionMinor === 1) {
    throw new HttpProblem('invalid_request', 'the header Host is missing');
  }
};

/**
 * Refuses what the headers alone show to be wrong, in this order: size, format of the body, format of the answer.
 * @throws HttpProblem `invalid_request`, `payload_too_large`, `unsupported_media_type`, `not_acceptable`
 */
export const preconditions =
  (operation: Operation): RequestHandler =>
  (req, res, next) => {
    requireHost(req);
    const length = declaredLength(req);
    if (operation.bodies.length > 0) stateOf(res).kind = requireBody(req, operation, length);
    else if (length !== undefined && length > IGNORED_BODY) throw tooLarge('the body', IGNORED_BODY);
    requireAcceptable(req, operation.produces);
    next();
  };
