import type { WaitingStatus } from '../../../../domain/loan/statuses.ts';
import type { WaitingPlace } from '../../../../application/administrator/worklists.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { withQuery, placeIn, placeText } from '../../paths.ts';
import { isAwaiting } from './offered.ts';
import { texts } from './texts.ts';

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
