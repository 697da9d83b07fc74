import type { Client } from '../../../application/ports/clients.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { RequestContext } from '../../../application/request-context.ts';
import type { Request } from 'express';
import type { MultipartReceiver } from '../bodies/multipart-receiver.ts';
import type { RateRow } from '../limits/rate-limiter.ts';
import type { Access } from '../openapi/operation.ts';
import type { HeaderReader, ReadHeaders } from '../requests/headers.ts';
import type { Query, QueryReader } from '../requests/query.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import type { Validator } from '../../../application/schemas/document-validators.ts';
import type { Recognised } from '../../../application/schemas/recogniser.ts';
import type { Reply } from './reply.ts';

/** A request that passed every check of its shape. */
export interface Call {
  /** undefined where no token is asked for */
  readonly context: RequestContext | undefined;
  /** Who sent its secret; undefined where none is asked for. */
  readonly client: Client | undefined;
  /** Matches the schema of the operation. */
  readonly body: unknown;
  readonly files: readonly ReceivedFile[];
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: Query;
  /** The published ones. */
  readonly headers: ReadHeaders;
  readonly req: Request;
}

export interface Handler {
  readonly crossCheck?: CrossCheck;
  /** Names of the files that the body refers to; for forms with files. */
  readonly fileNames?: (body: unknown) => readonly string[];
  run(call: Call): Promise<Reply> | Reply;
}

/** A handler's work for a caller with a token. */
export const forClient =
  (run: (context: RequestContext, call: Call) => Promise<Reply>) =>
  (call: Call): Promise<Reply> => {
    if (call.context === undefined) throw new Error('this operation asks for a token');
    return run(call.context, call);
  };

/** A handler's work for a client that sent its secret. */
export const forAdmitted =
  (run: (client: Client) => Promise<Reply>) =>
  (call: Call): Promise<Reply> => {
    if (call.client === undefined) throw new Error('this operation asks for a secret');
    return run(call.client);
  };

/** One media type that an operation reads. */
export interface BodyKind {
  readonly mediaType: string;
  /** Most bytes of the whole body. */
  readonly limit: number;
  /** How messages call the JSON value. */
  readonly name: string;
  /** What of the body the operation knows. */
  readonly recognise: (body: unknown) => Recognised;
  readonly validate: Validator;
  readonly form?: MultipartReceiver;
}

/** A row of the routing table. */
export interface Operation {
  readonly id: string;
  /** Upper case. */
  readonly method: string;
  /** As published, with `{parameter}`. */
  readonly path: string;
  /** For messages: method and path. */
  readonly endpoint: string;
  readonly access: Access;
  readonly bucket: RateRow | null;
  readonly bodies: readonly BodyKind[];
  readonly readQuery: QueryReader;
  readonly readHeaders: HeaderReader;
  /** Media types of its success responses. */
  readonly produces: readonly string[];
  readonly handler: Handler;
}
