import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { Exposure } from '../../../../application/loans/exposures.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { statusBadge, facts, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, count } from '../../format.ts';
import { fundNames, fundView } from '../../funds.ts';
import { operationLink } from '../../paths.ts';
import { ConsoleProblem } from '../../page.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

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
  const { application: applicationId = '', code = '' } = visit.params;
  const [found, names] = await Promise.all([
    app.loans.facts.exposure({ applicationId, code }),
    fundNames(app, visit),
  ]);
  if (found === undefined) throw new ConsoleProblem(404, () => words.noOperation);
  return exposureView(found, names);
};

/** Where it is put. */
export const exposurePlace = (path: string): View => html`
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
