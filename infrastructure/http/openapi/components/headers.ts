import type { Schema } from '../../../../application/schemas/schema.ts';
import { API_VERSION } from '../version.ts';

const header = (description: string, schema: Schema, example: string | number): Schema => ({
  description,
  schema,
  required: true,
  example,
});
const wholeNumber: Schema = { type: 'integer', minimum: 0 };
const text: Schema = { type: 'string' };

export const headerComponents: Readonly<Record<string, Schema>> = {
  RequestId: header(
    'Name of this request in our logs; quote it to support.',
    { type: 'string', format: 'uuid' },
    '0b5f6b52-9a3e-4c55-8f0b-7a4f0f6b9c1d',
  ),
  ApiVersion: header(
    'Version of this description, year.month.patch.',
    { type: 'string', pattern: '^\\d{4}\\.\\d{1,2}\\.\\d+$' },
    API_VERSION,
  ),
  Deprecation: {
    description:
      'Present once a change is announced that breaks this version: the version that brings it, and its day.',
    schema: text,
    example: '2027.3.0; effective=2027-03-01',
  },
  RateLimit: header('Capacity of the bucket that this request drew from.', wholeNumber, 600),
  RateRemaining: header('Whole tokens that are left in it.', wholeNumber, 599),
  RateReset: header('UNIX time in seconds when it is full again.', wholeNumber, 1_768_478_401),
  RetryAfter: header('Seconds to wait.', { type: 'integer', minimum: 1 }, 2),
  Challenge: header(
    'How to authenticate, and what was wrong with the token.',
    text,
    'Bearer realm="receivables", error="invalid_token"',
  ),
  ScopeChallenge: {
    description: 'With `insufficient_scope`: which scope the token lacks.',
    schema: text,
    example: 'Bearer realm="receivables", error="insufficient_scope", scope="loans:write"',
  },
  Allow: header('Methods of the path.', text, 'GET, HEAD, OPTIONS'),
  Replayed: {
    description: '`true` when an earlier request with the same key did the work.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  NoStore: header('Never keep this answer.', { type: 'string', const: 'no-store' }, 'no-store'),
  Attachment: header('The file name.', text, 'attachment; filename="ccb.pdf"'),
  ETag: header('Strong validator of the document.', text, '"Zk3vJ9mQ"'),
};

const refTo = (name: string): Schema => ({ $ref: `#/components/headers/${name}` });

export const ALWAYS: Schema = {
  'X-Request-Id': refTo('RequestId'),
  'X-SVC-API-Version': refTo('ApiVersion'),
  'X-SVC-API-Deprecation': refTo('Deprecation'),
};

export const RATE_HEADERS: Schema = {
  'X-RateLimit-Limit': refTo('RateLimit'),
  'X-RateLimit-Remaining': refTo('RateRemaining'),
  'X-RateLimit-Reset': refTo('RateReset'),
};

export const REPLAYED: Schema = { 'Idempotent-Replayed': refTo('Replayed') };
export const NO_STORE: Schema = { 'Cache-Control': refTo('NoStore') };
export const ATTACHMENT: Schema = { 'Content-Disposition': refTo('Attachment') };
export const ETAG: Schema = { ETag: refTo('ETag') };

export const errorHeaders = (status: number): Schema => {
  switch (status) {
    case 401:
      return { 'WWW-Authenticate': refTo('Challenge') };
    case 403:
      return { 'WWW-Authenticate': refTo('ScopeChallenge') };
    case 405:
      return { Allow: refTo('Allow') };
    case 429:
    case 503:
      return { 'Retry-After': refTo('RetryAfter') };
    default:
      return {};
  }
};
