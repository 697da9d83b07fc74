import type { PendingOperation } from '../../../../application/administrator/awaited.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { listPath } from './filter.ts';
import type { Filter } from './filter.ts';
import { texts } from './texts.ts';

const KEY = 'n';

/** To what is next in the list, behind an operation of it or at its beginning. */
export const nextLink = (
  filter: Filter,
  after?: Pick<PendingOperation, 'since' | 'applicationId' | 'code'>,
): View =>
  html`<a
    role="button"
    class="secondary"
    href=${listPath('/decisions/next', filter, after)}
    data-key=${KEY}
    aria-keyshortcuts=${KEY}
    >${texts.next}</a
  >`;
