import type { App } from '../../../application/app.ts';
import type { Tokens } from '../../../application/clients/tokens.ts';
import type { Guides } from '../docs/guides/guides.ts';
import type { loadReferencePage } from '../docs/reference-page.ts';
import type { OpenApiDocument, OperationSpec, PublicAddresses } from '../openapi/operation.ts';
import type { Handler } from '../operation.ts';
import type { Readiness } from '../server/health-app.ts';

/** What handlers are made with. */
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

export const endpoint = <Body = unknown>(described: Endpoint<Body>): Endpoint<Body> => described;
