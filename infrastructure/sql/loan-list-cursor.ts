import { isSoundText } from '../../application/schemas/sound-text.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';

/** The last operation of a page; the next page begins after it, whatever was added since. */
export interface LoanListCursor {
  readonly receivedAt: string;
  readonly code: string;
}

export const encodeCursor = ({ receivedAt, code }: LoanListCursor): string =>
  Buffer.from(JSON.stringify([receivedAt, code])).toString('base64url');

const parsed = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
};

/** @throws DomainError `invalid_query_parameter` */
export const decodeCursor = (cursor: string): LoanListCursor => {
  const place: unknown = parsed(cursor);
  if (Array.isArray(place) && place.length === 2) {
    const [receivedAt, code] = place as readonly unknown[];
    if (typeof receivedAt === 'string' && typeof code === 'string' && isSoundText(receivedAt + code)) {
      // Base64 decoding skips what it does not know, so only the same text again is a cursor made here.
      if (encodeCursor({ receivedAt, code }) === cursor) return { receivedAt, code };
    }
  }
  const message = 'cursor is not one of this list; use next_cursor of an earlier page as it is';
  throw new DomainError('invalid_query_parameter', message, [{ field: 'cursor', code: 'invalid', message }]);
};
