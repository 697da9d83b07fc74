import { ERRORS } from './error-table.ts';
import type { ErrorCode } from './error-table.ts';

/** The name that OAuth 2.0 (RFC 6749, section 5.2) has for a refusal of the token endpoint, or the nearest one. */
export const oauthError = (code: ErrorCode): string => {
  if (code === 'invalid_client' || code === 'unsupported_grant_type') return code;
  if (code === 'rate_limited' || code === 'service_unavailable') return 'temporarily_unavailable';
  return ERRORS[code].status >= 500 ? 'server_error' : 'invalid_request';
};
