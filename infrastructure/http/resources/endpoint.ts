import type { OperationSpec } from '../openapi/operation.ts';
import type { Handler } from '../operation.ts';

/** A published operation and its handler, whose body has the type that the operation's schema lets through. */
export interface Endpoint<Uses, Body = unknown> extends OperationSpec<Body> {
  readonly handler: (uses: Uses) => Handler<Body>;
}

export const endpoint = <Uses, Body = unknown>(described: Endpoint<Uses, Body>): Endpoint<Uses, Body> =>
  described;
