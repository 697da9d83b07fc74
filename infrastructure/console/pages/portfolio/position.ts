import type { FundPosition } from '../../../../application/portfolio/position.ts';
import { amount, count, date } from '../../format.ts';
import { html, section, pictureOf, tableView, tile } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { words } from '../words.ts';
import { compositions, concentrations, daysOf, monthName, movement, shareOf } from './composition.ts';
import type { Shown } from './composition.ts';
import { texts } from './texts.ts';

const receivedOf = ({ flows }: FundPosition, when: 'onDay' | 'toDate'): number =>
  flows.reduce((sum, flow) => sum + flow[when].amount, 0);

interface Measure {
  readonly name: string;
  readonly of: (position: FundPosition) => number;
  readonly write: (value: number) => string;
  readonly note?: (position: FundPosition) => string;
}

const measuresOf = (): readonly Measure[] => [
  { name: texts.operations, of: ({ operations }) => operations, write: count },
  {
    name: texts.open,
    of: ({ open }) => open.presentValue,
    write: amount,
    note: ({ open }) => `${words.faceValue}: ${amount(open.faceValue)}`,
  },
  {
    name: texts.overdue,
    of: ({ overdue }) => overdue.presentValue,
    write: amount,
    note: ({ overdue, open }) => texts.overdueShare(shareOf(overdue.presentValue, open.presentValue)),
  },
  {
    name: texts.received,
    of: (position) => receivedOf(position, 'toDate'),
    write: amount,
    note: (position) => texts.onDay(amount(receivedOf(position, 'onDay'))),
  },
];

const tiles = ({ analysed: { position }, against: other }: Shown): View => html`
  <div class="tiles">
    ${measuresOf().map(({ name, of, write, note }) => {
      const since =
        other && texts.since(date(other.position.date), movement(of(position) - of(other.position), write));
      const notes = [note?.(position), note && since && html`<br />`, since];
      return tile(name, write(of(position)), (note ?? since) && notes);
    })}
  </div>
`;

interface Named {
  readonly id: string;
  readonly title: string;
  readonly says: string;
}

const drawnAndListed = <Row>(
  { id, title, says }: Named,
  picture: Parameters<typeof pictureOf>[0],
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): View =>
  section(
    id,
    title,
    html`${pictureOf(picture, says)}
      <details>
        <summary>${texts.asTable}</summary>
        ${tableView({ label: title, dense: true }, columns, rows)}
      </details>`,
  );

const ageing = ({ analysed: { position }, against: other, drill }: Shown): View => {
  const against = other?.position;
  const { buckets, open, overdue } = position;
  const notDue = {
    installments: open.installments - overdue.installments,
    faceValue: open.faceValue - overdue.faceValue,
    presentValue: open.presentValue - overdue.presentValue,
  };
  const rows = [{ from: 0, ...notDue }, ...buckets];
  const drawn = ({ date: day, buckets: of }: FundPosition, meaning: 'overdue' | 'gone') => ({
    ...{ name: date(day), meaning },
    values: of.map(({ presentValue }) => presentValue),
  });
  return drawnAndListed(
    { id: 'ageing-title', title: texts.ageing, says: texts.ageingSays },
    {
      ...{ lying: true, unit: 'cents' },
      labels: buckets.map(({ from }) => daysOf(from)),
      links: buckets.map(({ from }) => drill({ by: 'late', value: String(from) })),
      series: [drawn(position, 'overdue'), ...(against ? [drawn(against, 'gone')] : [])],
    },
    [
      [
        words.daysLate,
        ({ from, installments }) => {
          const name = from === 0 ? texts.notDue : daysOf(from);
          const path = drill({ by: 'late', value: String(from) });
          return installments === 0 ? name : html`<a href=${path}>${name}</a>`;
        },
      ],
      [words.installments, ({ installments }) => count(installments), 'number'],
      [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
      [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
      [texts.share, ({ presentValue }) => shareOf(presentValue, open.presentValue), 'number'],
    ],
    rows,
  );
};

const MONTHS_DRAWN = 36;

const cash = ({ analysed: { position, received, due }, drill }: Shown): View => {
  const months = [...new Set([...received, ...due].map(({ month }) => month))].toSorted();
  const current = position.date.slice(0, 7);
  const came = new Map(received.map((one) => [one.month, one.amount]));
  const open = new Map(due.map((one) => [one.month, one]));
  const rows = months.map((month) => {
    const { faceValue = 0, overdueFaceValue = 0 } = open.get(month) ?? {};
    return {
      month,
      came: came.get(month) ?? 0,
      overdue: overdueFaceValue,
      falling: faceValue - overdueFaceValue,
    };
  });
  // Around the day that is looked at; the table has all of them.
  const first = Math.max(0, months.filter((month) => month < current).length - MONTHS_DRAWN / 3);
  const drawn = rows.slice(first, first + MONTHS_DRAWN);
  return drawnAndListed(
    { id: 'cash-title', title: texts.cash, says: texts.cashSays },
    {
      ...{ stacked: true, unit: 'cents' },
      labels: drawn.map(({ month }) => monthName(month)),
      series: [
        { name: texts.came, meaning: 'paid', values: drawn.map((row) => row.came) },
        { name: texts.overdueFace, meaning: 'overdue', values: drawn.map((row) => row.overdue) },
        { name: texts.falling, meaning: 'open', values: drawn.map((row) => row.falling) },
      ],
    },
    [
      [
        texts.month,
        ({ month }) =>
          open.has(month)
            ? html`<a href=${drill({ by: 'month', value: month })}>${monthName(month)}</a>`
            : monthName(month),
      ],
      [texts.came, (row) => amount(row.came), 'number'],
      [texts.overdueFace, ({ overdue }) => amount(overdue), 'number'],
      [texts.falling, ({ falling }) => amount(falling), 'number'],
    ],
    rows,
  );
};

type Flow = FundPosition['flows'][number];

const comparedWith = (other: FundPosition): readonly Column<Flow>[] => {
  const before = (at: number): number => other.flows[at]?.toDate.amount ?? 0;
  return [
    [date(other.date), (_, at) => amount(before(at)), 'number'],
    [words.difference, ({ toDate }, at) => movement(toDate.amount - before(at), amount), 'number'],
  ];
};

const flows = ({ analysed: { position }, against: other }: Shown): View =>
  section(
    'flows-title',
    texts.flows,
    tableView<Flow>(
      { label: texts.flows, dense: true },
      [
        [texts.flow, ({ flow }) => texts.kinds[flow]],
        [texts.dayValue, ({ onDay }) => amount(onDay.amount), 'number'],
        [texts.toDate, ({ toDate }) => amount(toDate.amount), 'number'],
        ...(other ? comparedWith(other.position) : []),
      ],
      position.flows,
    ),
  );

const unvalued = ({ withoutPresentValue: { operations, named } }: FundPosition): View | false =>
  operations > 0 &&
  html`<p role="note">${texts.unvalued(count(operations), named.map(({ code }) => code).join(', '))}</p>`;

const funds = ({ byFund, analysed: { position: whole } }: Shown): View =>
  section(
    'funds-title',
    texts.byFund,
    html`${tableView(
        { label: texts.byFund, dense: true },
        [
          [words.fund, ({ name, path }) => html`<a href=${path}>${name}</a>`],
          [texts.operations, ({ position }) => count(position.operations), 'number'],
          [texts.presentValue, ({ position }) => amount(position.open.presentValue), 'number'],
          [
            texts.share,
            ({ position }) => shareOf(position.open.presentValue, whole.open.presentValue),
            'number',
          ],
          [texts.overdue, ({ position }) => amount(position.overdue.presentValue), 'number'],
        ],
        byFund,
      )}
      <p><small>${texts.borrowersApart}</small></p>`,
  );

export const positionView = (shown: Shown): View => {
  const { position } = shown.analysed;
  return html`
    ${tiles(shown)} ${shown.byFund.length > 0 && funds(shown)}
    ${position.operations === 0 && html`<p>${texts.nothing}</p>`} ${unvalued(position)}
    <div class="side-by-side">${ageing(shown)} ${cash(shown)}</div>
    ${
      position.operations > 0 &&
      html`<div class="side-by-side">${concentrations(shown)}</div>
        ${compositions(shown)}
        <p><small>${texts.countsFrom}</small></p>`
    }
    ${flows(shown)}
    ${
      shown.exports &&
      html`<p class="actions">
        <a href=${shown.exports.position} download>${words.exportCsv}</a>
        <a href=${shown.exports.composition} download>${texts.exportComposition}</a>
      </p>`
    }
  `;
};
