import type { IncomingMessage } from 'node:http';
import { allows, scopesOf } from '../../../application/clients/scopes.ts';
import { SCOPES } from '../../../application/clients/scopes.ts';
import type { Client } from '../../../application/clients/client-registry.ts';
import { isSoundText } from '../../../application/schemas/document-validators.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { repetitions } from './request-rules.ts';
import { quoted } from '../../../application/schemas/parse-json.ts';

interface ClientCredentialsRequest {
  readonly clientId: string;
  readonly secret: string;
}

const BASIC = /^basic +([A-Za-z0-9+/_-]+=*) *$/i;

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

/** @param isGiven whether there were an id and a secret to compare */
export const invalidClient = (req: IncomingMessage, isGiven: boolean): HttpProblem => {
  // Who sent the header is told the scheme that it may have here (RFC 6749, section 5.2). For a form, browsers would ask for a password.
  const scheme = req.headers.authorization === undefined ? 'Bearer' : 'Basic';
  const message = isGiven
    ? 'Client id and secret do not belong together'
    : 'Send client_id and client_secret, both in the form or both as HTTP Basic';
  return new HttpProblem(
    'invalid_client',
    message,
    [],
    ['WWW-Authenticate', `${scheme} realm="receivables"`],
  );
};

/** Undefined when the id or the secret is missing, or no id can look like this. @throws HttpProblem `invalid_request`, `unsupported_grant_type` */
export const readCredentials = (
  req: IncomingMessage,
  form: URLSearchParams,
): ClientCredentialsRequest | undefined => {
  const [repeated] = repetitions([...form.keys()]);
  if (repeated) throw new HttpProblem('invalid_request', `${repeated.text.slice(0, 60)} must appear once`);
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
  return clientId && secret && isSoundText(clientId) ? { clientId, secret } : undefined;
};

/**
 * The client as its token will know it: with the scopes that the request names, or all of its own where it names none.
 * @throws HttpProblem `invalid_scope` for a name that is no scope, or none of this client
 */
export const narrowedTo = (scope: string | null, client: Client): Client => {
  const wanted = (scope ?? '').split(' ').filter((name) => name !== '');
  if (wanted.length === 0) return client;
  const own = scopesOf(client);
  const granted = SCOPES.filter((name) => wanted.includes(name) && allows(own, name));
  const other = wanted.find((name) => !granted.some((one) => one === name));
  if (other === undefined) return { ...client, scopes: granted };
  const message = `${quoted(other)} is no scope of this client; it has ${own.join(' ')}`;
  throw new HttpProblem('invalid_scope', message, [{ field: 'scope', code: 'invalid_scope', message }]);
};
