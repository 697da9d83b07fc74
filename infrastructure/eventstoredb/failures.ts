import { AccessDeniedError, StreamDeletedError } from '@eventstore/db-client';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';

/** How the library under the client words that a request never left this process. */
const NEVER_SENT = /No connection established|Name resolution failed|failed to connect to all addresses/;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a failed append proves: only these say that nothing was stored, whatever else went wrong leaves that open. */
export const isCertainlyNotStored = (error: unknown): boolean =>
  error instanceof AccessDeniedError ||
  error instanceof StreamDeletedError ||
  error instanceof StoreUnavailableError ||
  NEVER_SENT.test(messageOf(error));

export const unavailable = (what: string, error: unknown): StoreUnavailableError =>
  error instanceof StoreUnavailableError
    ? error
    : new StoreUnavailableError(`EventStoreDB: ${what}: ${messageOf(error)}`, { cause: error });

export const outcomeUnknown = (what: string, error: unknown): OutcomeUnknownError =>
  error instanceof OutcomeUnknownError
    ? error
    : new OutcomeUnknownError(`EventStoreDB: ${what}: ${messageOf(error)}`, { cause: error });

/** Rejects when the promise has not settled in time; what it does later is nobody's business any more. */
export const within = async <Value>(promise: Promise<Value>, ms: number, what: string): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
};
