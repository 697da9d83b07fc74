import { loanEntries } from '../event-codec/entries.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import { BrokenSealError } from '../ports/borrower-vault.ts';
import type { EventStore } from '../ports/event-store.ts';

/** The key of an operation is gone, and the log holds no record that its borrower was forgotten: it was lost. */
export class KeyMissingError extends Error {
  override readonly name = 'KeyMissingError';
  readonly stream: string;
  constructor(stream: string) {
    super(
      `key missing: ${stream} has no key operation:${stream} in wrapped_key, and no record that its borrower was forgotten; ` +
        'put the lost keys back from the old primary or from a backup; a key that is in no copy is given up with ' +
        'receivables borrower forget --lost-key (docs/operations.md, KeysMissing)',
    );
    this.stream = stream;
  }
}

/**
 * Tells a borrower who was forgotten from one whose key was lost. Forgetting puts an event on record before it deletes the key, so a key
 * that is gone without one is a fault, which must not be answered as if the borrower had been forgotten. The log is asked, and not a row
 * or a cache: what it holds is true while a key is being deleted, too.
 * @throws KeyMissingError
 */
export const requireForgotten = async (
  stream: string,
  log: Pick<EventStore, 'read'>,
  onMissing: (error: KeyMissingError) => void,
): Promise<undefined> => {
  const { events } = await log.read(stream);
  const has = (storedType: string): boolean => events.some(({ type }) => type === storedType);
  if (!has(loanEntries.LoanReceived.storedType) || has(loanEntries.BorrowerForgotten.storedType)) return;
  const error = new KeyMissingError(stream);
  onMissing(error);
  throw error;
};

/** @param kinds of errors, of which none is thrown on */
export const unlessKeyMissing = async <Value, Instead>(
  work: () => Promise<Value>,
  instead: Instead,
  kinds: readonly (abstract new (...given: never[]) => Error)[] = [KeyMissingError],
): Promise<Value | Instead> => {
  try {
    return await work();
  } catch (error) {
    if (kinds.some((kind) => error instanceof kind)) return instead;
    throw error;
  }
};

/** What is read of others does not depend on the one operation that cannot be. */
export const ifReadable = <Value, Instead>(work: () => Promise<Value>, instead: Instead) =>
  unlessKeyMissing(work, instead, [KeyMissingError, BrokenSealError, UnreadableEventError]);

/** Of operations of which something is gone, those that lost it: rows may lag behind the record of a forgetting. */
export const notForgotten = async (
  streams: readonly string[],
  log: Pick<EventStore, 'read'>,
): Promise<readonly string[]> => {
  const lost: string[] = [];
  for (const stream of streams) {
    const found = await unlessKeyMissing(() => requireForgotten(stream, log, () => undefined), stream);
    if (found !== undefined) lost.push(stream);
  }
  return lost;
};
