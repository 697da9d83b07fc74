import type { IncomingMessage } from 'node:http';
import { HttpProblem } from '../errors/http-problem.ts';

/** A host with its port and without user information (RFC 3986, section 3.2). */
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{0,5})?$/i;
const ABSOLUTE = /^https?:\/\/([^/?#]*)((?:[/?][^#]*)?)$/i;

/** Fields that a request has once: programs in front of this one and behind may each take another of two (RFC 9110, section 5.3). */
const SINGLE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type', 'content-length']);
const LENGTHS: ReadonlySet<number> = new Set([...SINGLE].map((name) => name.length));

const isAuthority = (text: string): boolean => AUTHORITY.test(text) && URL.canParse(`http://${text}`);

const invalid = (message: string): HttpProblem => new HttpProblem('invalid_request', message);

/** The name of a field that came twice and must not. */
const repeatedField = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!LENGTHS.has(name.length)) continue;
    const known = name.toLowerCase();
    if (seen.has(known)) return name;
    if (SINGLE.has(known)) seen.add(known);
  }
  return undefined;
};

const hostRefusal = ({ headers: { host }, httpVersionMinor }: IncomingMessage): HttpProblem | undefined => {
  if (host === undefined) return httpVersionMinor === 0 ? undefined : invalid('the header Host is missing');
  return isAuthority(host) ? undefined : invalid('the header Host names no host');
};

/** Path and query of the target; undefined when it is not one (RFC 9112, section 3.2). */
const originFormOf = ({ url = '', method }: IncomingMessage): string | undefined => {
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return url;
  const [, authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (!isAuthority(authority)) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
};

/**
 * Looks at what a request addresses before anything else does, and leaves path and query in `url`, in whichever form they came.
 * @returns the refusal of a request whose address is not well formed
 */
export const readTarget = (req: IncomingMessage): HttpProblem | undefined => {
  const repeated = repeatedField(req);
  if (repeated !== undefined) return invalid(`the header ${repeated} came more than once`);
  const refusal = hostRefusal(req);
  if (refusal) return refusal;
  const target = originFormOf(req);
  if (target === undefined) return invalid('the target of the request is neither a path nor an address');
  req.url = target;
  return undefined;
};
