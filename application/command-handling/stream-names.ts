import type { RenegotiationId } from '../../domain/shared/identifiers.ts';

/**
 * `loan-<application>.<code>`: the code's characters outside letters, digits, `-` and `_` become `~` and two hexadecimal digits,
 * so that the name is safe in every store and the code can be read back. Application ids hold no dot.
 */
export const LOAN_STREAM_PREFIX = 'loan-';

const encode = (code: string): string =>
  code.replace(/[^A-Za-z0-9_-]/g, (c) => `~${c.charCodeAt(0).toString(16).padStart(2, '0')}`);

const decode = (encoded: string): string =>
  encoded.replace(/~([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

export const loanStream = (applicationId: string, code: string): string =>
  `${LOAN_STREAM_PREFIX}${applicationId}.${encode(code)}`;

/** The parts of an operation's stream name; undefined for any other stream. */
export const parseLoanStream = (stream: string): { applicationId: string; code: string } | undefined => {
  const dot = stream.indexOf('.');
  if (!stream.startsWith(LOAN_STREAM_PREFIX) || dot < 0) return undefined;
  return { applicationId: stream.slice(LOAN_STREAM_PREFIX.length, dot), code: decode(stream.slice(dot + 1)) };
};

/** `renegotiation-<id>`: the coordinator of one renegotiation. */
export const RENEGOTIATION_STREAM_PREFIX = 'renegotiation-';

export const renegotiationStream = (id: RenegotiationId): string => `${RENEGOTIATION_STREAM_PREFIX}${id}`;
