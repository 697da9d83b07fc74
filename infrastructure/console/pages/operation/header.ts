import type { OperationPlace } from '../../../../application/command-handling/operation.ts';
import type { ShownOperation } from '../../../../application/audit/show-operation.ts';
import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import type { ExistingLoan } from '../../../../domain/loan/index.ts';
import { owesSchedule } from '../../../../domain/loan/statuses.ts';
import { statusBadge, facts, html, tile } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, date, exact, instant, ratesText } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundFact } from '../../funds.ts';
import { spoken } from '../../language.ts';
import { operationPath } from '../../paths.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import { words } from '../words.ts';
import { linesView, shownInstallments } from './schedule.ts';
import { fieldLabel } from './recorded-texts.ts';
import type { ShownStatus } from './schedule.ts';
import { dayField, momentField } from '../../forms.ts';
import { texts } from './texts.ts';

interface Header extends OperationPlace {
  readonly names: FundNames;
  readonly shown: ShownOperation;
  /** As it is now; undefined while that cannot be shown, and why. */
  readonly details: LoanDetails | undefined;
  readonly notShown: string;
  readonly asOf: string | undefined;
  readonly knownAt: string;
  readonly known: string | undefined;
}

const faceOf = (state: ExistingLoan, ...wanted: readonly ShownStatus[]): number =>
  shownInstallments(state)
    .filter(({ shown }) => wanted.includes(shown))
    .reduce((sum, { faceValue }) => sum + faceValue, 0);

const presentValueOf = ({ shown, details, asOf }: Omit<State, 'applicationId' | 'names'>): string => {
  if (asOf !== undefined) return amount(shown.payoff.at(-1)?.roundedTotal ?? 0);
  const value = details?.balances.payoffValue;
  if (value === undefined) return '';
  return value === null ? texts.tooLarge : amount(value);
};

type State = Pick<Header, 'applicationId' | 'names' | 'shown' | 'details' | 'asOf'>;

const tiles = (header: State, state: ExistingLoan): View => {
  const overdue = faceOf(state, 'overdue');
  const books = 'disbursedValue' in state ? state : undefined;
  return html`
    <div class="tiles">
      ${tile(texts.status, statusBadge(state.status))}
      ${tile(fieldLabel('acquisition_value'), amount(state.acquisitionValue), books && `${texts.disbursed}: ${amount(books.disbursedValue)}`)}
      ${books && tile(texts.cameIn, amount(books.receivedValue))}
      ${
        books &&
        owesSchedule(state.status) &&
        tile(
          texts.openFace,
          amount(faceOf(state, 'pending', 'overdue')),
          overdue > 0 && `${texts.overdueFace}: ${amount(overdue)}`,
        )
      }
      ${books && owesSchedule(state.status) && tile(texts.presentValue, presentValueOf(header))}
    </div>
  `;
};

const borrowerOf = ({ details }: State): View => {
  if (details === undefined) return null;
  const { borrower } = details;
  if (borrower === null) return texts.borrowerForgotten;
  return html`${borrower.name} · ${borrower.documentType} ${borrower.documentNumber}`;
};

const renegotiationOf = (state: ExistingLoan, applicationId: string): View => {
  const link = (code: string): View => html`<a href=${operationPath(applicationId, code)}>${code}</a>${' '}`;
  if ('renegotiated' in state)
    return html`${texts.successor} ${link(state.renegotiated.renegotiation.newProposalCode)}`;
  return state.origin && html`${texts.originals} ${state.origin.originalProposalCodes.map(link)}`;
};

const factsOf = (header: State, state: ExistingLoan): View => {
  const { applicationId, names } = header;
  const all: readonly (readonly [string, View])[] = [
    [words.borrower, borrowerOf(header)],
    [words.fund, fundFact(state.fundId, names)],
    [words.application, html`<span class="code">${applicationId}</span>`],
    [words.product, state.productType],
    [texts.issued, date(state.dateIssued)],
    [fieldLabel('received_at'), instant(state.receivedAt)],
    [texts.rate, ratesText(state.pricing.dailyFactor)],
    [fieldLabel('daily_factor'), html`<span class="code">${exact(state.pricing.dailyFactor)}</span>`],
    [fieldLabel('renegotiation'), renegotiationOf(state, applicationId)],
    [
      texts.exit,
      'repurchase' in state &&
        `${EXITS[state.repurchase.reason].name[spoken()]}: ${texts.exitValue(amount(state.repurchase.repurchaseValue), date(state.repurchase.effectiveDate))}`,
    ],
    [
      texts.reasons,
      'reasons' in state && state.reasons.map(({ code, message }) => `${code}: ${message}`).join('; '),
    ],
  ];
  const there = all.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return facts(there, 'pairs columns');
};

export const stateView = (header: State, state: ExistingLoan, beside?: View): View => [
  tiles(header, state),
  beside
    ? html`<div class="side-by-side">
        <div>${factsOf(header, state)}</div>
        <div>${beside}</div>
      </div>`
    : factsOf(header, state),
];

/** Which day is looked at, and what was known when. Nothing of a borrower is in it, so it may stand in the address. */
const positionForm = ({ applicationId, code, asOf, knownAt, known }: Header): View => {
  const path = operationPath(applicationId, code);
  const past = asOf !== undefined || known !== undefined;
  return html`
    <form method="get" action=${path} class="actions">
      ${dayField(words.positionOn, { name: 'as_of', value: asOf, title: texts.asOfHelp })}
      ${momentField(texts.knownAt, { name: 'known_at', value: knownAt, title: texts.knownAtHelp })}
      <button class="secondary">${words.show}</button>
      ${past && html`<a href=${path}>${texts.today}</a>`}
    </form>
    ${
      past &&
      html`<p role="status">
        <mark>
          ${asOf !== undefined && texts.shownAsOf(date(asOf))}${' '}
          ${known !== undefined && texts.shownKnownAt(instant(known))}
        </mark>
      </p>`
    }
  `;
};

/** What a day asks for is what was received by then; a portfolio counts an operation from its disbursement, whenever that was registered. */
const notYet = ({ asOf, known, details }: Header): string => {
  const disbursed = details?.disbursement?.date;
  const counted = asOf !== undefined && known === undefined && disbursed !== undefined && disbursed <= asOf;
  return counted ? texts.countsBefore(date(disbursed)) : texts.notYet;
};

export const headerView = (header: Header, beside: View): View => {
  const { shown, details, notShown } = header;
  const { state } = shown;
  return html`
    ${shown.brokenAt !== undefined && html`<p class="problem" role="alert">${texts.broken(shown.brokenAt)}</p>`}
    ${details === undefined && html`<p class="problem">${notShown}</p>`} ${positionForm(header)}
    ${'schedule' in state ? stateView(header, state, beside) : html`<p class="problem">${notYet(header)}</p>`}
    ${
      shown.payoff.length > 0 &&
      html`<details>
        <summary>${texts.lineByLine}</summary>
        ${linesView(shown.payoff)}
      </details>`
    }
  `;
};
