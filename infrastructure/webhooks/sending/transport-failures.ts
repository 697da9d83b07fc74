import { errors } from 'undici';
import { BlockedAddressError } from '../addresses/address-guard.ts';
import type { FailureReason } from './webhook-sender.ts';

export interface Failure {
  readonly reason: FailureReason;
  readonly error: string;
}

const CONNECTION_LOST = 'the connection was closed before the answer was complete';

/** Error codes of Node.js, undici and the resolver, as an operator would say them. */
const byCode: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: { reason: 'connection_refused', error: 'connection refused' },
  ECONNRESET: { reason: 'connection_lost', error: CONNECTION_LOST },
  EPIPE: { reason: 'connection_lost', error: CONNECTION_LOST },
  UND_ERR_SOCKET: { reason: 'connection_lost', error: CONNECTION_LOST },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { reason: 'connection_lost', error: CONNECTION_LOST },
  HPE_INVALID_EOF_STATE: { reason: 'connection_lost', error: CONNECTION_LOST },
  EHOSTUNREACH: { reason: 'unreachable', error: 'host unreachable' },
  ENETUNREACH: { reason: 'unreachable', error: 'network unreachable' },
  EADDRNOTAVAIL: { reason: 'unreachable', error: 'network unreachable' },
  ENOTFOUND: { reason: 'dns', error: 'dns: the name does not exist' },
  ENODATA: { reason: 'dns', error: 'dns: the name has no address' },
  EAI_AGAIN: { reason: 'dns', error: 'dns: no answer for the name' },
  ETIMEOUT: { reason: 'dns', error: 'dns: no answer for the name' },
  ESERVFAIL: { reason: 'dns', error: 'dns: no answer for the name' },
  UND_ERR_HEADERS_TIMEOUT: { reason: 'timeout', error: 'timeout: no answer' },
  UND_ERR_BODY_TIMEOUT: { reason: 'timeout', error: 'timeout: no complete answer' },
  UND_ERR_HEADERS_OVERFLOW: { reason: 'invalid_answer', error: 'invalid answer: its headers are too large' },
};

/** Verification results of OpenSSL, and the host name check of Node.js. */
const certificates: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'issued by an authority that is not trusted',
  CERT_SIGNATURE_FAILURE: 'issued by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'issued by an authority that is not trusted, or an intermediate one is missing',
  UNABLE_TO_GET_ISSUER_CERT: 'issued by an authority that is not trusted, or an intermediate one is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'issued by an authority that is not trusted, or an intermediate one is missing',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not valid yet',
  CERT_REVOKED: 'revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'issued for another host name',
  HOSTNAME_MISMATCH: 'issued for another host name',
};
const OTHER_CERTIFICATE_CODE =
  /CERT|CHAIN|INVALID_CA|INVALID_PURPOSE|EE_KEY_TOO_SMALL|CA_MD_TOO_WEAK|PATH_LENGTH/;

const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  // Several addresses were tried: the first failure stands for all.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof code === 'string') return code;
  return cause === undefined ? '' : codeOf(cause);
};

export const failureOf = (error: unknown): Failure => {
  if (error instanceof BlockedAddressError) {
    return { reason: 'blocked_address', error: 'blocked address: the host is not globally routable' };
  }
  const code = codeOf(error);
  const known = byCode[code];
  if (known) return known;
  const certificate = certificates[code];
  if (certificate) return { reason: 'certificate', error: `certificate problem: ${certificate}` };
  if (OTHER_CERTIFICATE_CODE.test(code))
    return { reason: 'certificate', error: `certificate problem: ${code}` };
  if (/^ERR_SSL|^ERR_TLS|^EPROTO$/.test(code))
    return { reason: 'tls', error: `tls: no common protocol (${code})` };
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return { reason: 'timeout', error: 'timeout: no connection' };
  }
  if (error instanceof errors.HTTPParserError || code.startsWith('UND_ERR')) {
    return { reason: 'invalid_answer', error: `invalid answer: not HTTP/1.1 (${code || 'unreadable'})` };
  }
  return { reason: 'other', error: `connection failed (${code || 'unknown'})` };
};
