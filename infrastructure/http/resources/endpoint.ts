import type { App } from '../../../application/app.ts';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import type { Tokens } from '../../../application/clients/tokens.ts';
import type { Guides } from '../docs/guides/guides.ts';
import type { loadReferencePage } from '../docs/reference-page.ts';
import type { BodyContent, OpenApiDocument, OperationSpec, PublicAddresses } from '../openapi/operation.ts';
import type { Call, Handler, Reply } from '../operation.ts';
import type { Readiness } from '../server/health-app.ts';

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
export interface Endpoint<Body = unknown> extends OperationSpec<Body> {
  readonly handler: (serving: Serving) => Handler<Body>;
}

type Verb = OperationSpec['method'];
type Derived = 'method' | 'path' | 'tag' | 'bucket' | 'errors' | 'body';

/** JSON, unless one of its parts carries that. */
type Sent<Body> = Omit<BodyContent<Body>, 'mediaType'> & Partial<Pick<BodyContent<Body>, 'mediaType'>>;

type Described<Body> = Omit<OperationSpec<Body>, Derived> &
  Partial<Pick<OperationSpec<Body>, 'bucket' | 'errors'>> &
  Omit<Handler<Body>, 'run'> & {
    readonly request: `${Uppercase<Verb>} /${string}`;
    readonly body?: Sent<Body> | readonly Sent<Body>[];
  } & (
    | {
        /** For callers with a token. */
        readonly answer: (app: App, context: RequestContext, call: Call<Body>) => Promise<Reply>;
        readonly handler?: never;
      }
    | { readonly handler: (serving: Serving) => Handler<Body>['run']; readonly answer?: never }
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
  handler,
  crossCheck,
  fileNames,
  mayLackFiles,
  ...spec
}: Described<Body>): Endpoint<Body> => {
  const [verb, path] = request.split(' ') as [Uppercase<Verb>, string];
  const rules = {
    ...(crossCheck && { crossCheck }),
    ...(fileNames && { fileNames }),
    ...(mayLackFiles && { mayLackFiles }),
  };
  const run = (serving: Serving): Handler<Body>['run'] =>
    handler ? handler(serving) : forClient((context, call) => answer(serving.app, context, call));
  return {
    bucket: 'read',
    errors: [],
    ...spec,
    method: verb.toLowerCase() as Verb,
    path,
    ...(body && { body: [body].flat().map(withMediaType<Body>) }),
    tag: TAGS[path.split('/')[1]!] ?? 'Service',
    handler: (serving) => ({ ...rules, run: run(serving) }),
  };
};
