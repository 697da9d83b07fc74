import { LOAN_STATUSES } from '../../application/schemas/values.ts';
import type { InLanguages, Language } from './language.ts';

const STATUSES: InLanguages<Readonly<Record<string, string>>> = {
  'pt-BR': {
    received: 'Recebida',
    approved: 'Aprovada',
    rejected: 'Rejeitada',
    term_signed: 'Termo assinado',
    active: 'Ativa',
    repurchase_pending: 'Recompra pendente',
    repurchased: 'Recomprada',
    reversed: 'Revertida',
    resolved: 'Resolvida',
    renegotiated: 'Renegociada',
    settled: 'Liquidada',
  },
  en: {
    received: 'Received',
    approved: 'Approved',
    rejected: 'Rejected',
    term_signed: 'Term signed',
    active: 'Active',
    repurchase_pending: 'Repurchase pending',
    repurchased: 'Repurchased',
    reversed: 'Reversed',
    resolved: 'Resolved',
    renegotiated: 'Renegotiated',
    settled: 'Settled',
  },
};

/** A state of an operation, as people say it. Held by a renegotiation, it reads as the active one that it still is. */
export const statusName = (status: string, language: Language): string =>
  STATUSES[language][status === 'reserved' ? 'active' : status] ?? status;

/** In the order of an operation's life. */
export const STATES: readonly string[] = LOAN_STATUSES;

/** The page of an operation. */
export const operationPath = (applicationId: string, code: string): string =>
  `/operations/${encodeURIComponent(applicationId)}/${encodeURIComponent(code)}`;

/** An address with what is given; what is undefined stands nowhere in it. */
export const withQuery = (path: string, query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
};
