import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { Exposure } from '../../../../application/loans/decision-facts.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { statusBadge, facts, html, tableView, empty } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, count, date, instant, ratesText } from '../../format.ts';
import { fundNames, fundView, fundFact } from '../../funds.ts';
import { operationIn, operationLink, decisionPath, operationPath, documentPath } from '../../paths.ts';
import { ConsoleProblem } from '../../page.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { shownName } from '../../../support/stored-files.ts';
import { spoken } from '../../language.ts';
import { tokenField } from '../../forms.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { exitValue } from './columns.ts';
import { filterFields, listPath, nextLink, OFFERED, isAwaiting, keyOf } from './offered.ts';
import type { Filter } from './offered.ts';
import { decisionButtons } from './worklist.ts';

type Held = Exposure['originator'];

const together = ({ operations, acquisitionValue }: Held['active']): string =>
  texts.together(operations, count(operations), amount(acquisitionValue));

const held = ({ active, waiting }: Held): string =>
  `${texts.heldActive(together(active))}; ${texts.heldWaiting(together(waiting))}`;

const sameView = (same: NonNullable<Exposure['borrower']>['same'], names: FundNames): View => {
  if (same.length === 0) return html`<p>${texts.noSame}</p>`;
  return html`
    <p class="problem">${texts.same(same.length)}</p>
    ${tableView(
      { label: texts.sameTitle, dense: true },
      [
        [words.operation, operationLink],
        [words.status, ({ status }) => statusBadge(status)],
        [words.acquisitionValue, ({ acquisitionValue }) => amount(acquisitionValue), 'number'],
        [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
      ],
      same,
    )}
  `;
};

const exposureView = ({ originator, borrower }: Exposure, names: FundNames): View => [
  facts([
    borrower && [texts.ofBorrower, [borrower.atLeast && `${texts.atLeast} `, held(borrower)]],
    borrower && [texts.openFaceValue, amount(borrower.openFaceValue)],
    [texts.ofOriginator, held(originator)],
  ]),
  borrower && sameView(borrower.same, names),
];

/** Fetched into the page, which stands before it: an originator may have very many operations. */
export const exposureOf = async (visit: Visit, app: Desk): Promise<View> => {
  const [found, names] = await Promise.all([
    app.loans.facts.exposure(operationIn(visit)),
    fundNames(app, visit),
  ]);
  if (found === undefined) throw new ConsoleProblem(404, () => words.noOperation);
  return exposureView(found, names);
};

const exposurePlace = (path: string): View => html`
  <h2 id="exposure-title">${texts.exposure}</h2>
  <div
    aria-live="polite"
    aria-labelledby="exposure-title"
    role="region"
    ...${{ 'hx-get': `${path}/exposure`, 'hx-trigger': 'load' }}
  >
    <p aria-busy="true">${texts.adding}</p>
  </div>
`;

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
