import type { Schema } from '../../../application/schemas/schema.ts';
import { ETAG } from '../openapi/components/headers.ts';

/** Caches may keep a copy but have to ask whether it is still the current one. */
export const REVALIDATE = ['Cache-Control', 'no-cache'];

export const served = (content: {
  readonly description: string;
  readonly mediaType: string;
  readonly otherMediaTypes?: readonly string[];
  readonly schema: Schema;
  readonly example: unknown;
}) => [
  { status: 200, ...content, headers: ETAG },
  { status: 304, description: 'The copy that If-None-Match names is current.', headers: ETAG },
];
