import type { OperationPlace } from '../../../../application/command-handling/operation.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import type { WaitingStatus } from '../../../../domain/loan/statuses.ts';

/** What can be decided in each state. The rules of the domain have the last word; this is what the pages offer. */
export const OFFERED: Readonly<Record<WaitingStatus, readonly DecisionName[]>> = {
  received: ['approve', 'reject'],
  approved: ['sign_term', 'reject'],
  term_signed: ['disburse', 'reject'],
  repurchase_pending: ['process_repurchase'],
};

export const KEYS: Readonly<Record<DecisionName, string>> = {
  approve: 'a',
  reject: 'r',
  sign_term: 's',
  disburse: 'd',
  process_repurchase: 'c',
};

export const isDecision = (text: string | null): text is DecisionName =>
  text !== null && Object.hasOwn(KEYS, text);

export const isAwaiting = (text: string | null): text is WaitingStatus =>
  text !== null && Object.hasOwn(OFFERED, text);

/** An operation as a form names it. Neither part can hold a slash. */
export const keyOf = ({ applicationId, code }: OperationPlace): string => `${applicationId}/${code}`;

export const operationsNamed = (fields: URLSearchParams): readonly OperationPlace[] =>
  [...new Set(fields.getAll('operation'))].flatMap((key) => {
    const [applicationId, code, ...rest] = key.split('/');
    return applicationId && code && rest.length === 0 ? [{ applicationId, code }] : [];
  });
