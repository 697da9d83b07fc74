import { isIP } from 'node:net';

/** A webhook's address, taken apart. */
export interface WebhookTarget {
  readonly origin: string;
  readonly host: string;
  /** Without brackets; a name, or an address in its usual notation. */
  readonly hostname: string;
  readonly isLiteral: boolean;
  /** Path and query. */
  readonly path: string;
}

const MAX_LENGTH = 2048;
/** Read differently by different parsers, or silently dropped by this one. */
const AMBIGUOUS = /[\s\\\p{Cc}]/u;
const AUTHORITY_WITH_USER = /^https:\/\/[^/?#]*@/i;

/** What is wrong with the text as a webhook's address, if anything. */
const flawOf = (text: string): string | undefined => {
  if (text.length > MAX_LENGTH) return `longer than ${MAX_LENGTH} characters`;
  if (AMBIGUOUS.test(text)) return 'spaces, control characters and backslashes are not allowed';
  if (!URL.canParse(text)) return 'not an absolute URL';
  if (!/^https:\/\/[^/]/i.test(text)) return 'only https is allowed, written as https://host';
  if (AUTHORITY_WITH_USER.test(text)) return 'user information is not allowed';
  if (text.includes('#')) return 'a fragment is not allowed';
  if (new URL(text).port === '0') return 'port 0 is not one that can be reached';
  return undefined;
};

/** @throws RangeError saying what is wrong */
export const parseWebhookUrl = (text: string): WebhookTarget => {
  const flaw = flawOf(text);
  if (flaw !== undefined) throw new RangeError(flaw);
  const { origin, host, hostname, pathname, search } = new URL(text);
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { origin, host, hostname: bare, isLiteral: isIP(bare) !== 0, path: pathname + search };
};
