import type { Request } from 'express';
import type { Client } from '../../application/clients/client-registry.ts';
import type { Outcome, RequestContext } from '../../application/command-handling/request-context.ts';
import type { ReceivedFile, StoredContent } from '../../application/ports/document-store.ts';
import type { Validator } from '../../application/schemas/document-validators.ts';
import type { Recognised } from '../../application/schemas/recogniser.ts';
import type { RateRow } from './limits/rate-limiter.ts';
import type { OperationSpec } from './openapi/operation.ts';
import type { Query, ReadHeaders, headerReader, queryReader } from './requests/parameters.ts';
import type { CrossCheck } from './requests/request-rules.ts';

/** A request that passed every check of its shape. */
export interface Call<Body = unknown> {
  /** Undefined where no token is asked for. */
  readonly context: RequestContext | undefined;
  /** The client that sent its secret; undefined where no secret is asked for. */
  readonly client: Client | undefined;
  readonly body: Body;
  readonly files: readonly ReceivedFile[];
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  readonly headers: ReadHeaders;
  readonly req: Request;
}

export interface Handler<Body = unknown> {
  readonly crossCheck?: CrossCheck;
  fileNames?(body: Body): readonly string[];
  /** Whether files that the body refers to may be left out; default: no. */
  mayLackFiles?(body: Body): boolean;
  run(this: void, call: Call<Body>): Promise<Reply> | Reply;
}

export interface JsonKind {
  readonly name: string;
  /** Keeps the fields that the operation knows, and reports misspelt ones. */
  readonly recognise: (body: unknown) => Recognised;
  readonly validate: Validator;
}

export interface BodyKind extends JsonKind {
  readonly mediaType: string;
  readonly limit: number;
  /** Of a form, whose data part has the kind's name. */
  readonly form?: { readonly fileBytes: number; readonly dataBytes: number };
}

export interface Lines extends Pick<NonNullable<OperationSpec['lines']>, 'field' | 'orderedBy'> {
  readonly kind: JsonKind;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** As published, with `{parameter}`. */
  readonly path: string;
  /** For messages: method and path. */
  readonly endpoint: string;
  readonly access: OperationSpec['access'];
  readonly allFunds: boolean;
  readonly bucket: RateRow | null;
  readonly bodies: readonly BodyKind[];
  readonly lines: Lines | undefined;
  readonly readQuery: ReturnType<typeof queryReader>;
  readonly readHeaders: ReturnType<typeof headerReader>;
  readonly produces: readonly string[];
  readonly handler: Handler;
}

/** What a handler answers. `headers` is flat: name, value, name, value. */
export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  /** Gives way to other requests while its JSON is written. */
  readonly isLong?: true;
  readonly bytes?: Buffer;
  /** A body of a known length that is sent as fast as the client takes it. */
  readonly content?: StoredContent;
  readonly mediaType?: string;
  readonly headers?: readonly string[];
  /** For pages; without it the policy forbids everything. */
  readonly contentSecurityPolicy?: string;
}

export const NO_CONTENT: Reply = { status: 204 };

const REPLAYED = ['Idempotent-Replayed', 'true'];

export const isReplay = ({ headers }: Reply): boolean => headers === REPLAYED;

export const ok = (json: unknown): Reply => ({ status: 200, json });

/** A replay has the status code of the first answer, and a header that says so. */
export const outcomeReply = <Result>(
  status: number,
  { replayed, result }: Outcome<Result>,
  present: (result: Result) => unknown,
): Reply =>
  replayed ? { status, json: present(result), headers: REPLAYED } : { status, json: present(result) };
