import type { Scope } from '../../../application/clients/scopes.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import { RATE_ROWS } from '../limits/rate-limiter.ts';
import type { RateRow } from '../limits/rate-limiter.ts';
import { ALWAYS, RATE_HEADERS, REPLAYED } from './components/headers.ts';
import { parameter } from './components/parameters.ts';
import { errorResponses } from './responses.ts';
import { ref } from '../../../application/schemas/schema.ts';
import type { Component, Schema } from '../../../application/schemas/schema.ts';

export type Environment = 'sandbox' | 'production';

export interface PublicAddresses {
  readonly publicUrl: string;
  readonly authUrl: string;
  /** Default: the sandbox, which has all that production has. */
  readonly environment?: Environment;
}

export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly guide: readonly [place: string, title: string];
}

export interface Explained extends Schema {
  readonly externalDocs: { readonly url: string; readonly description: string };
}

export interface OpenApiDocument extends Explained {
  readonly openapi: '3.1.0';
  readonly tags: readonly Explained[];
  readonly info: { readonly version: string; readonly [field: string]: unknown };
  readonly paths: Readonly<Record<string, Schema>>;
  readonly components: { readonly [section: string]: Readonly<Record<string, Schema>> };
}

export interface BodyContent<Body = unknown> {
  readonly mediaType: 'application/json' | 'application/x-www-form-urlencoded' | 'multipart/form-data';
  readonly schema: Component<Body>;
  readonly example: object;
  /** What a sample sends, where the example would not do for an operation that was just assigned; default: the example. */
  readonly sample?: object;
  /** Most bytes of the JSON or of the fields, default 8 KiB; files have limits of their own. */
  readonly limit?: number;
  /** multipart only: the part that carries the JSON. */
  readonly dataPart?: string;
  /** multipart only: media types of the files; default PDF */
  readonly fileTypes?: string;
  /** multipart only: names of the files that the example says it comes with */
  readonly exampleFiles?: readonly string[];
}

interface SuccessResponse {
  readonly status: number;
  readonly description: string;
  readonly mediaType?: string;
  /** Beside the first, with the same schema and example. */
  readonly otherMediaTypes?: readonly string[];
  readonly schema?: Schema;
  readonly example?: unknown;
  /** What a `dry_run` is answered, beside the example or alone. */
  readonly quote?: object;
  readonly headers?: Schema;
}

export interface OperationSpec<Body = unknown> {
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Who may call: every caller, a client with its secret (the token endpoint), or a token with this scope. */
  readonly access: 'public' | 'client_credentials' | Scope;
  /** Refused to clients of some funds, since it is about every fund of the application. */
  readonly allFunds?: true;
  /** Row of the rate limits; null for what stands outside of them. */
  readonly bucket: RateRow | null;
  /** Names in components/parameters. */
  readonly parameters?: readonly string[];
  /** Names in components/parameters of headers that only a sandbox knows. */
  readonly sandboxParameters?: readonly string[];
  readonly sandboxOnly?: true;
  readonly body?: readonly BodyContent<Body>[];
  /** Sent twice it does what it does once, though nothing tells that it was a repetition: the key of each line, or a state that is named. */
  readonly repeatable?: true;
  /** Of a batch: its handler carries out each line as a request of its own. */
  readonly lines?: {
    /** The list of the body that they stand in, judged alone. */
    readonly field: string;
    readonly schema: Component;
    /** Lines that agree in one of these fields are carried out in their order, others side by side. */
    readonly orderedBy: readonly string[];
  };
  readonly success: readonly SuccessResponse[];
  /** Codes beyond those that follow from access, body, bucket and key. */
  readonly errors: readonly ErrorCode[];
}

export const json = (
  status: number,
  description: string,
  schema: Component & { readonly example?: unknown },
  example = schema.example,
): SuccessResponse => ({
  status,
  description,
  mediaType: 'application/json',
  schema: ref(schema),
  example,
});

const FILES: Schema = {
  type: 'array',
  maxItems: 20,
  // OpenAPI 3.1 asks for the media type; pages and generators know a file by the format of 3.0.
  items: { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' },
  description: 'One part named `files` for each file; its file name ties it to a document.',
};

const KIBIBYTE = 1024;

export const limitOf = ({ limit = 8 * KIBIBYTE }: BodyContent): number => limit;

const limitText = (content: BodyContent): string => {
  const { mediaType, dataPart } = content;
  const what = dataPart === undefined ? `As \`${mediaType}\`: at` : `The part \`${dataPart}\`: at`;
  const files = dataPart === undefined ? '' : ', and at most 20 files; no other part is accepted';
  return `${what} most ${limitOf(content) / KIBIBYTE} KiB${files}.`;
};

const mediaTypeOf = (content: BodyContent): Schema => {
  const { mediaType, schema, example, dataPart, fileTypes = 'application/pdf', exampleFiles } = content;
  if (dataPart === undefined) return { [mediaType]: { schema: ref(schema), example } };
  return {
    [mediaType]: {
      schema: { type: 'object', required: [dataPart], properties: { [dataPart]: ref(schema), files: FILES } },
      encoding: {
        [dataPart]: { contentType: 'application/json' },
        files: { contentType: fileTypes },
      },
      example: { [dataPart]: example, files: exampleFiles },
    },
  };
};

const securityOf = (access: OperationSpec['access']): readonly Schema[] => {
  if (access === 'public') return [];
  // The first is what a page offers: it fetches the token itself.
  return access === 'client_credentials' ? [{}, { basic: [] }] : [{ oauth2: [access] }, { bearer: [access] }];
};

const OF_A_KEY = ['idempotency_conflict', 'concurrent_modification'] as const;
const hasKey = ({ success }: OperationSpec): boolean => success.some(({ headers }) => headers === REPLAYED);

const impliedErrors = (spec: OperationSpec): readonly ErrorCode[] => {
  const codes: ErrorCode[] = ['invalid_request', 'not_acceptable', 'internal_error', 'service_unavailable'];
  if (spec.access !== 'public' && spec.access !== 'client_credentials') {
    codes.push('missing_token', 'invalid_token', 'token_expired', 'insufficient_scope');
  }
  codes.push('payload_too_large');
  if (spec.body) codes.push('unsupported_media_type');
  if (spec.body && spec.access !== 'client_credentials') codes.push('validation_error', 'unknown_field');
  if (!spec.body && spec.method !== 'get' && spec.access !== 'public') codes.push('unknown_field');
  if (spec.access === 'client_credentials' && spec.parameters) codes.push('validation_error');
  if (spec.method === 'get' && spec.access !== 'public') codes.push('invalid_query_parameter');
  if (spec.bucket) codes.push('rate_limited');
  return codes;
};

const headersOf = (spec: OperationSpec): Schema => (spec.bucket ? { ...ALWAYS, ...RATE_HEADERS } : ALWAYS);

const examplesOf = ({ example, quote }: SuccessResponse): Schema =>
  quote === undefined
    ? { example }
    : {
        examples: {
          ...(example !== undefined && { receipt: { summary: 'The receipt', value: example } }),
          quote: { summary: 'The quote of a dry_run', value: quote },
        },
      };

const successOf = (spec: OperationSpec, success: SuccessResponse): Schema => ({
  description: success.description,
  headers: { ...headersOf(spec), ...success.headers },
  ...(success.mediaType && {
    content: Object.fromEntries(
      [success.mediaType, ...(success.otherMediaTypes ?? [])].map((mediaType) => [
        mediaType,
        { schema: success.schema, ...examplesOf(success) },
      ]),
    ),
  }),
});

/** Whether a client that got no answer may send it again: it reads, it has a key, or a second time changes nothing more. */
const isIdempotent = (spec: OperationSpec): boolean =>
  spec.method === 'get' || spec.repeatable === true || hasKey(spec);

export const describe = (spec: OperationSpec, servers?: readonly Schema[]): Schema => ({
  operationId: spec.id,
  tags: [spec.tag],
  summary: spec.summary,
  description: spec.description,
  security: securityOf(spec.access),
  ...(servers && { servers }),
  ...(isIdempotent(spec) && { 'x-idempotent': true }),
  ...(spec.bucket && {
    'x-rate-limit': {
      bucket: spec.bucket,
      per_minute: RATE_ROWS[spec.bucket].perMinute,
      burst: RATE_ROWS[spec.bucket].burst,
    },
  }),
  ...(spec.parameters && { parameters: spec.parameters.map(parameter) }),
  ...(spec.body && {
    requestBody: {
      required: true,
      description: spec.body.map(limitText).join(' '),
      content: Object.assign({}, ...spec.body.map(mediaTypeOf)) as Schema,
    },
  }),
  responses: {
    ...Object.fromEntries(spec.success.map((success) => [String(success.status), successOf(spec, success)])),
    ...errorResponses([...spec.errors, ...impliedErrors(spec), ...(hasKey(spec) ? OF_A_KEY : [])], {
      headers: headersOf(spec),
      schema: spec.access === 'client_credentials' ? 'TokenError' : 'Error',
    }),
  },
});
