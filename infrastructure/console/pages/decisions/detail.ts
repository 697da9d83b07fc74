import { may } from '../../../../application/desk/rights.ts';
import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { shownName } from '../../../support/stored-files.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { statusBadge, empty, facts, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, count, date, instant, ratesText } from '../../format.ts';
import { fundFact } from '../../funds.ts';
import { spoken } from '../../language.ts';
import { decisionPath, operationPath, documentPath } from '../../paths.ts';
import { tokenField } from '../../forms.ts';
import type { Visit } from '../../page.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { words } from '../words.ts';
import { exitValue } from './columns.ts';
import { exposurePlace } from './exposure.ts';
import { filterFields, listPath, nextLink } from './filter.ts';
import type { Filter } from './filter.ts';
import { OFFERED, isAwaiting, keyOf } from './offered.ts';
import { texts } from './texts.ts';
import { decisionButtons } from './worklist.ts';

interface Around {
  readonly applicationId: string;
  readonly names: FundNames;
  readonly applications: ReadonlyMap<string, string>;
  readonly filter: Filter;
}

/** Schedules come in any order. */
const lastDueOf = (installments: LoanDetails['installments']): string =>
  installments.reduce((last, { dueDate }) => (dueDate > last ? dueDate : last), '');

const factsOf = (
  { loan, borrower, repurchase, installments }: LoanDetails,
  { applicationId, names, applications }: Around,
): View =>
  facts([
    [words.status, statusBadge(loan.status)],
    [
      texts.borrowerName,
      borrower
        ? html`${borrower.name} <span class="code">${borrower.documentNumber}</span>`
        : texts.forgotten,
    ],
    [words.acquisitionValue, amount(loan.acquisition_value)],
    [words.faceValue, amount(installments.reduce((sum, { faceValue }) => sum + faceValue, 0))],
    [texts.rates, ratesText(loan.daily_factor)],
    [texts.term, texts.termOf(count(installments.length), date(lastDueOf(installments)))],
    [words.product, loan.product_type],
    [words.issued, date(loan.date_issued)],
    [texts.received, instant(loan.received_at)],
    [words.fund, fundFact(loan.fund_id, names)],
    [words.application, html`${applications.get(applicationId)} <span class="code">${applicationId}</span>`],
    repurchase && [words.kind, EXITS[repurchase.reason].name[spoken()]],
    repurchase && repurchase.reasonDetail !== null && [texts.exitReason, repurchase.reasonDetail],
    repurchase && [texts.repurchaseValue, exitValue(repurchase)],
    repurchase && [texts.effectiveDate, date(repurchase.effectiveDate)],
  ]);

const scheduleOf = ({ installments }: LoanDetails): View => html`
  <h2>${words.installments}</h2>
  ${tableView(
    { label: words.installments },
    [
      [texts.dueDate, ({ dueDate }) => date(dueDate)],
      [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
    ],
    installments,
  )}
`;

const documentsOf = ({ loan, documents }: LoanDetails, applicationId: string): View => {
  const readable = documents.filter(({ value }) => value !== null);
  const [first] = readable.filter(({ value }) => /\.pdf$/i.test(value!));
  const path = (documentId: string): string => documentPath(applicationId, loan.code, documentId);
  return html`
    <h2>${words.documents}</h2>
    ${
      documents.length === 0
        ? empty(words.noDocuments)
        : html`<ul>
            ${documents.map(
              ({ documentId, type, value }) =>
                html`<li>
                  ${
                    value === null
                      ? html`${type}: ${texts.forgotten}`
                      : html`<a href=${path(documentId)} target="document">${type}: ${shownName(value)}</a>`
                  }
                </li>`,
            )}
          </ul>`
    }
    ${
      first &&
      html`<iframe
        class="document"
        name="document"
        title=${texts.shownDocument}
        src=${path(first.documentId)}
      ></iframe>`
    }
  `;
};

/** One operation beside its documents, with what can be decided about it. */
export const detailView = (details: LoanDetails, around: Around, visit: Visit): View => {
  const { applicationId, filter } = around;
  const { status, code, fund_id: fundId, waiting_since: since } = details.loan;
  return html`
    <p class="actions">
      <a href=${listPath('/decisions', filter)}>${words.backToList}</a>
      <a href=${operationPath(applicationId, code)}>${texts.history}</a>
    </p>
    <div class="side-by-side">
      <div>
        ${factsOf(details, around)} ${exposurePlace(decisionPath({ applicationId, code }))}
        ${scheduleOf(details)}
        ${
          isAwaiting(status) &&
          may(visit, 'decide', fundId) &&
          html`<form method="post" action="/decisions/preview" class="actions sticky">
            ${tokenField(visit)} ${filterFields(filter)}
            <input type="hidden" name="operation" value=${keyOf({ applicationId, code })} />
            ${decisionButtons(OFFERED[status], visit)}
            ${nextLink(filter, since === null ? undefined : { since, applicationId, code })}
          </form>`
        }
      </div>
      ${may(visit, 'borrowers', fundId) && html`<div>${documentsOf(details, applicationId)}</div>`}
    </div>
  `;
};
