import type { Request } from 'express';
import type { Client } from '../../application/clients/client-registry.ts';
import type { Outcome, RequestContext } from '../../application/command-handling/request-context.ts';
import type { ReceivedFile, StoredContent } from '../../application/ports/document-store.ts';
import type { Validator } from '../../application/schemas/document-validators.ts';
import type { Recognised } from '../../application/schemas/recogniser.ts';
import type { OperationSpec, BodyContent, OpenApiDocument, PublicAddresses } from './openapi/operation.ts';
import type { Query, ReadHeaders, headerReader, queryReader } from './requests/parameters.ts';
import type { CrossCheck } from './requests/request-rules.ts';
import type { App } from '../../application/app.ts';
import type { Tokens } from '../../application/clients/tokens.ts';
import type { Guides } from './docs/guides/guides.ts';
import type { loadReferencePage } from './docs/reference-page.ts';
import type { Readiness } from './server/health-app.ts';

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

/** What is checked of a body beside its schema. */
export interface Checks<Body = unknown> {
  readonly crossCheck?: CrossCheck;
  fileNames?(body: Body): readonly string[];
  /** Whether files that the body refers to may be left out; default: no. */
  mayLackFiles?(body: Body): boolean;
}

export interface Handler<Body = unknown> {
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

export interface Operation
  extends Pick<OperationSpec, 'id' | 'path' | 'access' | 'allFunds' | 'bucket' | 'errors'>, Checks, Handler {
  readonly method: string;
  /** For messages: method and path. */
  readonly endpoint: string;
  readonly bodies: readonly BodyKind[];
  readonly lines: Lines | undefined;
  readonly readQuery: ReturnType<typeof queryReader>;
  readonly readHeaders: ReturnType<typeof headerReader>;
  readonly produces: readonly string[];
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

export interface Serving {
  readonly app: App;
  readonly document: OpenApiDocument;
  readonly addresses: PublicAddresses;
  readonly reference: () => ReturnType<typeof loadReferencePage>;
  readonly guides: Guides;
  readonly tokens: Tokens;
  readonly readiness: () => Promise<Readiness>;
}

/** A published operation and its handler, whose body has the type that the operation's schema lets through. */
export interface Endpoint<Body = unknown> extends OperationSpec<Body>, Checks<Body> {
  readonly handler: (serving: Serving) => Handler<Body>['run'];
}

type Verb = OperationSpec['method'];
type Derived = 'method' | 'path' | 'tag' | 'bucket' | 'errors' | 'body';

/** JSON, unless one of its parts carries that. */
type Sent<Body> = Omit<BodyContent<Body>, 'mediaType'> & Partial<Pick<BodyContent<Body>, 'mediaType'>>;

type Described<Body> = Omit<OperationSpec<Body>, Derived> &
  Partial<Pick<OperationSpec<Body>, 'bucket' | 'errors'>> &
  Checks<Body> & {
    readonly request: `${Uppercase<Verb>} /${string}`;
    readonly body?: Sent<Body> | readonly Sent<Body>[];
  } & (
    | {
        /** For callers with a token. */
        readonly answer: (app: App, context: RequestContext, call: Call<Body>) => Promise<Reply>;
        readonly handler?: never;
      }
    | (Pick<Endpoint<Body>, 'handler'> & { readonly answer?: never })
  );

/** By the first part of the path; what has none here is about the service. */
const TAGS: Readonly<Record<string, string>> = {
  loan: 'Loans',
  installment: 'Installments',
  webhook: 'Webhooks',
  event: 'Webhooks',
  token: 'Authentication',
  sandbox: 'Sandbox',
};

/** Work for a caller with a token. */
export const forClient =
  <Body>(run: (context: RequestContext, call: Call<Body>) => Promise<Reply>) =>
  (call: Call<Body>): Promise<Reply> => {
    if (call.context === undefined) throw new Error('this operation asks for a token');
    return run(call.context, call);
  };

const withMediaType = <Body>(sent: Sent<Body>): BodyContent<Body> => ({
  mediaType: sent.dataPart === undefined ? 'application/json' : 'multipart/form-data',
  ...sent,
});

/** What reads has the row of reads, unless something else is said. */
export const endpoint = <Body = unknown>({
  request,
  body,
  answer,
  handler = ({ app }) => forClient((context, call) => answer!(app, context, call)),
  ...spec
}: Described<Body>): Endpoint<Body> => {
  const [verb, path] = request.split(' ') as [Uppercase<Verb>, string];
  return {
    bucket: 'read',
    errors: [],
    ...spec,
    method: verb.toLowerCase() as Verb,
    path,
    ...(body && { body: [body].flat().map(withMediaType<Body>) }),
    tag: TAGS[path.split('/')[1]!] ?? 'Service',
    handler,
  };
};
