import type { Overdue, OverdueBand } from '../../../../application/administrator/overdue.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { amount, count } from '../../format.ts';
import { fundView } from '../../funds.ts';
import { empty, html, tile } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationLink } from '../../names.ts';
import { tableView } from '../../table.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

const daysOf = ({ from, to }: OverdueBand): string => (to === null ? `${from}+` : `${from}–${to}`);

/** How many operations are late, with what, for how long, and which of them for longest. */
export const overdueBody = ({ bands, worst }: Overdue, names: FundNames): View => {
  const [oldest] = worst;
  if (oldest === undefined) return empty(texts.noneOverdue, texts.noneOverdueHelp);
  const sumOf = (of: (band: OverdueBand) => number): number => bands.reduce((sum, band) => sum + of(band), 0);
  return html`
    <div class="tiles small">
      ${tile(texts.operations, count(sumOf(({ operations }) => operations)))}
      ${tile(texts.faceValue, amount(sumOf(({ faceValue }) => faceValue)))}
      ${tile(texts.oldest, texts.days(oldest.days))}
    </div>
    ${tableView(
      { label: texts.bands },
      [
        [texts.daysLate, daysOf],
        [texts.operations, ({ operations }) => count(operations), 'number'],
        [texts.installments, ({ installments }) => count(installments), 'number'],
        [texts.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
      ],
      bands,
    )}
    <h3 id="worst-title">${texts.worst}</h3>
    ${tableView(
      { titledBy: 'worst-title' },
      [
        [words.operation, operationLink],
        [texts.daysLate, ({ days }) => count(days), 'number'],
        [texts.installments, ({ installments }) => count(installments), 'number'],
        [texts.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
        [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
      ],
      worst,
    )}
  `;
};
