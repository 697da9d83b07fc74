import type { AnalysedPortfolio } from '../../../../application/portfolio/composition.ts';
import { amount, count, date, statusName } from '../../format.ts';
import { html, section, pictureOf, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { words } from '../words.ts';
import { movement, shareOf } from './shown.ts';
import type { Shown } from './shown.ts';
import { texts } from './texts.ts';

const DRAWN = 12;

interface Sort {
  readonly id: string;
  readonly title: string;
  readonly says: string;
  readonly head: string;
  readonly of: 'applications' | 'states' | 'products';
  readonly by: 'application' | 'state' | 'product';
  readonly nameOf: (name: string) => string;
}

const sortsOf = ({ names }: Shown): readonly Sort[] => [
  {
    id: 'composition-title',
    title: texts.composition,
    says: texts.compositionSays,
    head: words.application,
    of: 'applications',
    by: 'application',
    nameOf: (name) => names.get(name) ?? name,
  },
  {
    id: 'states-title',
    title: texts.byState,
    says: texts.byStateSays,
    head: texts.state,
    of: 'states',
    by: 'state',
    nameOf: (name) => statusName(name),
  },
  {
    id: 'products-title',
    title: texts.byProduct,
    says: texts.byProductSays,
    head: words.product,
    of: 'products',
    by: 'product',
    nameOf: (name) => name,
  },
];

/** What is held on either day, the largest on the day that is asked for first. */
const namesIn = (now: AnalysedPortfolio, before: AnalysedPortfolio | undefined, of: Sort['of']) => [
  ...new Set([...now[of], ...(before?.[of] ?? [])].map(({ name }) => name)),
];

const composition = (sort: Sort, { analysed, against, drill }: Shown): View => {
  const whole = analysed.position.open.presentValue;
  const [parts, earlier] = [analysed, against].map(
    (one) => new Map(one?.[sort.of].map((part) => [part.name, part])),
  );
  const rows = namesIn(analysed, against, sort.of).map((name) => ({
    name: name === undefined ? texts.unknown : sort.nameOf(name),
    path: drill({ by: sort.by, value: name }),
    operations: parts!.get(name)?.operations ?? 0,
    presentValue: parts!.get(name)?.presentValue ?? 0,
    before: earlier!.get(name)?.presentValue ?? 0,
  }));
  const drawn = rows.slice(0, DRAWN);
  const values = drawn.map(({ presentValue }) => presentValue);
  const series = [{ name: texts.presentValue, meaning: 'one' as const, values }];
  const columns: readonly Column<(typeof rows)[number]>[] = [
    [
      sort.head,
      ({ name, path, operations }) => (operations === 0 ? name : html`<a href=${path}>${name}</a>`),
    ],
    [texts.operations, ({ operations }) => count(operations), 'number'],
    [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
    [texts.share, ({ presentValue }) => shareOf(presentValue, whole), 'number'],
  ];
  const compared: typeof columns = against
    ? [
        [date(against.position.date), ({ before }) => amount(before), 'number'],
        [words.difference, ({ presentValue, before }) => movement(presentValue - before, amount), 'number'],
      ]
    : [];
  return section(
    sort.id,
    sort.title,
    html`${
      rows.length > 1 &&
      pictureOf(
        {
          kind: 'bar',
          lying: true,
          unit: 'cents',
          labels: drawn.map(({ name }) => name),
          links: drawn.map(({ path }) => path),
          series,
        },
        sort.says,
      )
    }
    ${tableView({ label: sort.title, dense: true }, [...columns, ...compared], rows)}`,
  );
};

/** Of what a position is made. */
export const compositions = (shown: Shown): readonly View[] =>
  sortsOf(shown).map((sort) => composition(sort, shown));
