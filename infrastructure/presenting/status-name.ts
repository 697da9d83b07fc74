import { STATUSES, isShownStatus } from '../../domain/loan/statuses.ts';

/** A state of an operation, as people say it. Held by a renegotiation, it reads as the active one that it still is. */
export const statusName = (status: string, language: 'pt-BR' | 'en'): string => {
  const shown = status === 'reserved' ? 'active' : status;
  return isShownStatus(shown) ? STATUSES[shown].name[language] : status;
};
