import type { IncomingMessage } from 'node:http';
import { HttpProblem } from '../errors/http-problem.ts';

export interface ClientCredentialsRequest {
  readonly clientId: string;
  readonly secret: string;
}

const BASIC = /^basic +([A-Za-z0-9+/_-]+=*) *$/i;
/** Far longer than any client id; what follows cannot tell two ids apart that exist. */
const LONGEST_ID = 128;

const formDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

/** Id and secret stand form-encoded in HTTP Basic (RFC 6749, section 2.3.1). */
const basicCredentials = (req: IncomingMessage): ClientCredentialsRequest | undefined => {
  const encoded = BASIC.exec(req.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { clientId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
};

export const parseForm = (body: Buffer): URLSearchParams => new URLSearchParams(body.toString('utf8'));

/** The id that the request claims, to choose its rate limit; empty when it claims none. */
export const clientIdOf = (req: IncomingMessage, form: URLSearchParams): string =>
  (basicCredentials(req)?.clientId ?? form.get('client_id') ?? '').slice(0, LONGEST_ID);

export const invalidClient = (req: IncomingMessage): HttpProblem => {
  const scheme = basicCredentials(req) === undefined ? 'Bearer' : 'Basic';
  const message = 'Client id and secret do not belong together';
  return new HttpProblem(
    'invalid_client',
    message,
    [],
    ['WWW-Authenticate', `${scheme} realm="receivables"`],
  );
};

/** @throws HttpProblem `invalid_request`, `unsupported_grant_type`, `invalid_client` */
export const readCredentials = (req: IncomingMessage, form: URLSearchParams): ClientCredentialsRequest => {
  const repeated = [...form.keys()].find((name, index, names) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new HttpProblem('invalid_request', `${repeated.slice(0, 60)} must appear once`);
  const grant = form.get('grant_type');
  if (grant === null)
    throw new HttpProblem('invalid_request', 'grant_type is required; send client_credentials');
  if (grant !== 'client_credentials') {
    throw new HttpProblem('unsupported_grant_type', 'grant_type must be client_credentials');
  }
  const basic = basicCredentials(req);
  if (basic !== undefined && form.has('client_secret')) {
    throw new HttpProblem('invalid_request', 'send the credentials in the form or as HTTP Basic, not both');
  }
  const clientId = basic?.clientId ?? form.get('client_id');
  const secret = basic?.secret ?? form.get('client_secret');
  if (!clientId || !secret) throw invalidClient(req);
  return { clientId, secret };
};
