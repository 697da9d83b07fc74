import { API_VERSION } from './openapi/version.ts';

/** Of every answer, names and values in turns; beside them a policy of what its contents may do. */
export const SECURITY_HEADERS = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
];

/** Answers are data: a browser must not run anything in them or show them in a frame. */
export const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Of an answer in JSON with which its connection ends, whatever of the request is still to come; names and values in turns. */
export const headersOfTheLast = (
  body: string,
  requestId: string,
  more: readonly string[] = [],
): readonly string[] => [
  ...['Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(Buffer.byteLength(body))],
  ...['X-Request-Id', requestId, 'X-SVC-API-Version', API_VERSION],
  ...SECURITY_HEADERS,
  ...['Content-Security-Policy', DATA_POLICY, ...more],
  ...['Cache-Control', 'no-store', 'Connection', 'close'],
];
