import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { HeldOperation, HeldPart } from '../../../../application/portfolio/held.ts';
import { summing } from '../../../../application/portfolio/position.ts';
import { amount, count, date, statusName } from '../../format.ts';
import { fundNames } from '../../funds.ts';
import { html, tile, tableView } from '../../html.ts';
import type { Column } from '../../html.ts';
import { operationLink } from '../../paths.ts';
import type { Answer, Visit } from '../../page.ts';
import { words } from '../words.ts';
import { addressOf, askedOf, fundsOf, partOf } from './asked.ts';
import { daysOf, monthName } from './shown.ts';
import { texts } from './texts.ts';

const MOST_SHOWN = 200;

interface FoundOperation extends HeldOperation {
  readonly fundId: string;
}

const lateName = (value: string): string => {
  if (value === '0') return texts.notDue;
  return value === 'all' ? texts.overdue : `${words.daysLate}: ${daysOf(Number(value))}`;
};

const nameOf = ({ by, value }: HeldPart, applications: ReadonlyMap<string, string>): string => {
  if (value === undefined) return texts.unknown;
  const names: Readonly<Record<HeldPart['by'], () => string>> = {
    late: () => lateName(value),
    month: () => texts.dueIn(monthName(value)),
    application: () => `${words.application}: ${applications.get(value) ?? value}`,
    state: () => `${texts.state}: ${statusName(value)}`,
    product: () => `${words.product}: ${value}`,
  };
  return names[by]();
};

export const operationsView = async (visit: Visit, app: Desk): Promise<Answer> => {
  const [asked, part] = [askedOf(visit), partOf(visit)];
  const funds = await fundsOf(asked, app);
  const held = [];
  for (const fundId of funds)
    held.push({ fundId, ...(await app.portfolio.held(fundId, asked.date, part, MOST_SHOWN)) });
  const sums = summing('operations', 'installments', 'faceValue', 'presentValue')(held);
  const found = held.flatMap(({ fundId, largest }) => largest.map((one) => ({ ...one, fundId })));
  const [applications, names] = await Promise.all([app.clients.applicationNames(), fundNames(app, visit)]);
  const shown = found.toSorted((one, other) => other.presentValue - one.presentValue).slice(0, MOST_SHOWN);
  const columns: readonly Column<FoundOperation>[] = [
    [words.operation, operationLink],
    [words.application, ({ applicationId }) => applications.get(applicationId) ?? applicationId],
    ...(funds.length > 1
      ? [[words.fund, ({ fundId }) => names.get(fundId) ?? fundId] satisfies Column<FoundOperation>]
      : []),
    [words.installments, ({ installments }) => count(installments), 'number'],
    [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
    [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
  ];
  return {
    kind: 'page',
    title: nameOf(part, applications),
    logged: [{ action: 'listed', count: shown.length, ...(funds.length === 1 && { fundId: funds[0]! }) }],
    body: html`
      <p><a href=${addressOf('/portfolio', asked)}>← ${texts.title}</a> ${date(asked.date)}</p>
      <div class="tiles small">
        ${tile(texts.operations, count(sums.operations))}
        ${tile(words.installments, count(sums.installments))} ${tile(words.faceValue, amount(sums.faceValue))}
        ${tile(texts.presentValue, amount(sums.presentValue))}
      </div>
      ${tableView({ label: texts.operations, dense: true }, columns, shown)}
      ${sums.operations > shown.length && html`<p><small>${texts.largestShown(count(shown.length))}</small></p>`}
    `,
  };
};
