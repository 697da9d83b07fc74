import type { StoredContent } from '../../../application/ports/document-store.ts';
import type { Outcome } from '../../../application/request-context.ts';

/** What a handler answers. `headers` is flat: name, value, name, value. */
export interface Reply {
  readonly status: number;
  /** Becomes the JSON body. */
  readonly json?: unknown;
  /** A body that exists as bytes already. */
  readonly bytes?: Buffer;
  /** A body of a known length that is sent as fast as the client takes it. */
  readonly content?: StoredContent;
  readonly mediaType?: string;
  readonly headers?: readonly string[];
  /** Instead of the one that forbids everything; for pages. */
  readonly contentSecurityPolicy?: string;
}

export const NO_CONTENT: Reply = { status: 204 };

const REPLAYED = ['Idempotent-Replayed', 'true'];

export const ok = (json: unknown): Reply => ({ status: 200, json });

/** A replay answers the status code of the first time and says that it is one. */
export const outcomeReply = <Result>(
  status: number,
  { replayed, result }: Outcome<Result>,
  present: (result: Result) => unknown,
): Reply =>
  replayed ? { status, json: present(result), headers: REPLAYED } : { status, json: present(result) };
