import type { OperationPlace } from '../../../../application/command-handling/operation.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import type { WaitingStatus } from '../../../../domain/loan/statuses.ts';
import type { WaitingPlace } from '../../../../application/administrator/worklists.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { withQuery, placeIn, placeText } from '../../paths.ts';
import { texts } from './texts.ts';

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

export interface Filter {
  readonly fundId?: string;
  readonly status?: WaitingStatus;
}

export const filterIn = (given: URLSearchParams, fund = 'fund', waitsFor = 'status'): Filter => {
  const [fundId, status] = [given.get(fund), given.get(waitsFor)];
  return { ...(fundId && { fundId }), ...(isAwaiting(status) && { status }) };
};

/** As forms take it along: their lines have states too. */
export const filterFields = ({ fundId, status }: Filter): View => [
  html`<input type="hidden" name="of_fund" value=${fundId ?? ''} />`,
  html`<input type="hidden" name="of_status" value=${status ?? ''} />`,
];
export const filterSent = (fields: URLSearchParams): Filter => filterIn(fields, 'of_fund', 'of_status');

const PLACE = ['since', 'applicationId', 'code'] as const;

export const placeOf = (text: string | null): WaitingPlace | undefined => placeIn(PLACE, text);

export const listPath = (path: string, { fundId, status }: Filter, after?: WaitingPlace): string =>
  withQuery(path, { fund: fundId, status, after: after && placeText(PLACE, after) });

const KEY = 'n';

export const nextLink = (filter: Filter, after?: WaitingPlace): View =>
  html`<a
    role="button"
    class="secondary"
    href=${listPath('/decisions/next', filter, after)}
    data-key=${KEY}
    aria-keyshortcuts=${KEY}
    >${texts.next}</a
  >`;
