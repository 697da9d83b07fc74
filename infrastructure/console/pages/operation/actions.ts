import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { tokenField } from '../../layout.ts';
import { decisionPath } from '../../names.ts';
import type { OperationKey } from '../../names.ts';
import type { Visit } from '../../page.ts';
import { OFFERED, isAwaiting, keyOf } from '../decisions/offered.ts';
import { decisionButtons } from '../decisions/worklist.ts';
import { texts } from './texts.ts';

/** Whether one person decided and a second one is asked for. */
const awaitsAnother = async ({ administrator }: Desk, of: OperationKey, fundId: string): Promise<boolean> =>
  (await administrator.confirmations.awaiting(fundId)).some(
    ({ applicationId, code }) => applicationId === of.applicationId && code === of.code,
  );

/** What this person can do with the operation in the state in which it and its fund are; nothing for who only looks on. */
export const actionsView = async (
  operation: OperationKey,
  { loan }: LoanDetails,
  visit: Visit,
  app: Desk,
): Promise<View> => {
  const { status, fund_id: fundId } = loan;
  const [decides, settles] = [
    may(visit, 'decide', fundId),
    may(visit, 'confirm', fundId) || may(visit, 'withdraw', fundId),
  ];
  if (visit.readOnly || !isAwaiting(status) || !(decides || settles)) return null;
  if (await awaitsAnother(app, operation, fundId))
    return settles && html`<p><a href="/awaiting">${texts.awaitsAnother}</a></p>`;
  return (
    decides &&
    html`<form method="post" action="/decisions/preview" class="actions">
      ${tokenField(visit)}
      <input type="hidden" name="operation" value=${keyOf(operation)} />
      ${decisionButtons(OFFERED[status], visit)} <a href=${decisionPath(operation)}>${texts.decide}</a>
    </form>`
  );
};
