import type { ShownOperation } from '../../../../application/audit/show-operation.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationPath } from '../../names.ts';
import type { OperationKey } from '../../names.ts';
import { stateView } from '../operation/header.ts';
import { linesView } from '../operation/price.ts';
import { scheduleView } from '../operation/schedule.ts';
import { texts } from '../operation/texts.ts';
import { entryView, recordedView } from '../operation/timeline.ts';
import { words } from '../words.ts';
import { texts as audit } from './texts.ts';

interface Explained extends OperationKey {
  readonly asOf: CalendarDate | undefined;
  readonly shown: ShownOperation;
  readonly clientNames: ReadonlyMap<string, string>;
  readonly names: FundNames;
}

/** What `audit show` prints, with the labels of the operation's page; the oldest event first, nothing left to be opened. */
export const explainedView = (explained: Explained): View => {
  const { applicationId, code, asOf, shown, clientNames, names } = explained;
  const { state, brokenAt, payoff } = shown;
  const chain =
    brokenAt === undefined
      ? html`<p class="done">${audit.whole}</p>`
      : html`<p class="problem" role="alert">${texts.broken(brokenAt)}</p>`;
  return html`
    <h3><a href=${operationPath(applicationId, code)}>${words.operation} ${code}</a></h3>
    ${chain}
    ${
      'schedule' in state
        ? stateView({ applicationId, names, shown, details: undefined, asOf }, state)
        : html`<p class="problem">${texts.notYet}</p>`
    }
    ${scheduleView(state)} ${linesView(payoff)}
    <h3>${texts.timeline}</h3>
    <ol class="timeline">
      ${shown.events.map((one) => entryView(one, { clientNames }, recordedView(one)))}
    </ol>
  `;
};
