import { DomainError } from '../../domain/shared/domain-error.ts';

/** What it says of itself. A connection that no address of a name took says nothing, and has a code alone. */
export const messageOf = (error: unknown): string =>
  error instanceof Error
    ? error.message || ((error as { readonly code?: string }).code ?? error.name)
    : String(error);

/** For a place in a list that none of its pages gave. */
export const foreignCursor = (): DomainError => {
  const message = 'cursor is not one of this list; use next_cursor of an earlier page as it is';
  return new DomainError('invalid_query_parameter', message, [{ field: 'cursor', code: 'invalid', message }]);
};
