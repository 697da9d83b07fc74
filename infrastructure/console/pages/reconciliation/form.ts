import type { Comparison } from '../../../../application/reconciliation/comparison.ts';
import {
  HIGHEST_TOLERANCE_CENTS,
  LONGEST_WINDOW_DAYS,
} from '../../../../application/reconciliation/match-rules.ts';
import {
  DATE_FORMATS,
  DELIMITERS,
  MOST_SKIPPED_LINES,
  STATEMENT_ENCODINGS,
} from '../../../../application/reconciliation/statements.ts';
import type { StatementPreview, StatementFormat } from '../../../../application/reconciliation/statements.ts';
import { Kept } from '../../kept.ts';
import type { PaymentPeriod } from '../../../../application/reconciliation/reconciliation-reader.ts';
import { centsTyped, dayTyped } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundField } from '../../funds.ts';
import { html, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { AMOUNT, tokenField, field, choiceField, dayField } from '../../forms.ts';
import type { Option } from '../../forms.ts';
import { ConsoleProblem } from '../../page.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

interface Typed {
  readonly fund: string;
  readonly from: string;
  readonly to: string;
  readonly window: string;
  readonly tolerance: string;
  readonly requireReference: boolean;
}

/** A statement with what is asked of it and what came of that; `asked`: the same statement, asked since. */
export interface KeptStatement {
  readonly name: string;
  readonly bytes: Buffer;
  readonly asked: Kept<KeptStatement>;
  preview: StatementPreview;
  typed: Typed;
  compared?: Comparison | undefined;
  said?: (() => string) | undefined;
}

export const LARGEST = 16 * 1_048_576;
const MOST_KEPT = 4;
/** Of one file; each tab has its own. */
export const MOST_ASKED = 4;
/** Of all files of all people. */
const MOST_BYTES = 8 * LARGEST;

/** In memory alone: nothing of them is on a disk, and the end of the console is theirs too. */
export const statements = new Kept<KeptStatement>(MOST_KEPT, {
  mostBytes: MOST_BYTES,
  bytesOf: ({ bytes }) => Math.max(1, bytes.length),
});

export const statementPath = (id: string): string => `/reconciliation/${id}`;

/** @param id of a file, or of what was asked of it: one that is kept no more is the file as it was read at first */
export const statementAt = (visit: Visit, id: string): KeptStatement => {
  const [file = '', asked = ''] = id.split('.');
  const statement = statements.find(visit, file);
  if (statement === undefined) throw new ConsoleProblem(410, () => texts.gone);
  return statement.asked.find(visit, asked) ?? statement;
};

/** @returns the id under which it is found from now on */
export const keepAsked = (visit: Visit, id: string, statement: KeptStatement): string =>
  `${id.split('.')[0]!}.${statement.asked.keep(visit, statement)}`;

const DECIMALS = [',', '.'] as const;
const SHOWN_RECORDS = 8;
const SHOWN_CHARACTERS = 60;

export const typedIn = (fields: URLSearchParams): Typed => ({
  fund: (fields.get('fund') ?? '').trim(),
  from: fields.get('from') ?? '',
  to: fields.get('to') ?? '',
  window: fields.get('window') ?? '',
  tolerance: fields.get('tolerance') ?? '',
  requireReference: fields.has('require_reference'),
});

/** The fund that the lines above the table name, or the only one; its days come from the file. */
export const typedFirst = ({ funds, names }: Pick<Mapping, 'funds' | 'names'>, above: string): Typed => {
  const text = above.toLowerCase();
  const named = funds.filter((id) =>
    [id, names.get(id) ?? id].some((one) => text.includes(one.toLowerCase())),
  );
  const [fund = ''] = named.length === 1 ? named : funds.length === 1 ? funds : [];
  return {
    fund: names.get(fund) ?? fund,
    from: '',
    to: '',
    window: '3',
    tolerance: '0',
    requireReference: false,
  };
};

const among = <T extends string>(all: readonly T[], text: string | null): T =>
  all.find((one) => one === text) ?? all[0]!;

const wholeNumber = (text: string, most: number): number | undefined =>
  /^\d{1,4}$/.test(text) && Number(text) <= most ? Number(text) : undefined;

const badNumbers = (): ConsoleProblem => new ConsoleProblem(422, () => texts.badNumbers);

/** @throws ConsoleProblem */
export const layoutIn = (
  fields: URLSearchParams,
): Pick<StatementFormat, 'encoding' | 'delimiter' | 'skipLines'> => {
  const skipLines = wholeNumber(fields.get('skip') ?? '0', MOST_SKIPPED_LINES);
  if (skipLines === undefined) throw badNumbers();
  return {
    encoding: among(STATEMENT_ENCODINGS, fields.get('encoding')),
    delimiter: among(DELIMITERS, fields.get('delimiter')),
    skipLines,
  };
};

/** @throws ConsoleProblem */
export const formatIn = (fields: URLSearchParams): StatementFormat => ({
  ...layoutIn(fields),
  dateColumn: fields.get('date_column') ?? '',
  amountColumn: fields.get('amount_column') ?? '',
  referenceColumn: fields.get('reference_column') ?? '-',
  decimal: among(DECIMALS, fields.get('decimal')),
  dateFormat: among(DATE_FORMATS, fields.get('date_format')),
  header: fields.has('header'),
});

/** @throws ConsoleProblem */
export const periodIn = ({ window, tolerance, requireReference, ...typed }: Typed) => {
  const [from, to] = [dayTyped(typed.from), dayTyped(typed.to)];
  if (from === undefined || to === undefined || from > to)
    throw new ConsoleProblem(422, () => texts.badPeriod);
  const [windowDays, toleranceCents] = [wholeNumber(window, LONGEST_WINDOW_DAYS), centsTyped(tolerance)];
  if (windowDays === undefined || toleranceCents === undefined || toleranceCents > HIGHEST_TOLERANCE_CENTS)
    throw badNumbers();
  const period: Omit<PaymentPeriod, 'fundId'> = { from, to };
  return { ...period, tolerances: { windowDays, toleranceCents, requireReference } };
};

interface Mapping {
  readonly id: string;
  readonly statement: KeptStatement;
  readonly funds: readonly string[];
  readonly names: FundNames;
}

const same = (all: readonly string[]): readonly Option[] => all.map((one) => [one, one]);

const previewTable = ({ statement }: Mapping): View => {
  const { records } = statement.preview;
  if (records.length === 0) return html`<p class="problem">${texts.noRecord}</p>`;
  const width = Math.max(...records.map((record) => record.length));
  return tableView(
    { titledBy: 'preview-title', dense: true },
    Array.from({ length: width }, (_, i): Column<readonly string[]> => [
      `${texts.column} ${i + 1}`,
      (record) => [...(record[i] ?? '')].slice(0, SHOWN_CHARACTERS).join(''),
    ]),
    records.slice(0, SHOWN_RECORDS),
  );
};

const numberField = (label: string, name: string, max: number, value: number | string): View =>
  field(label, { type: 'number', name, min: '0', max, value: String(value), required: true });

const layoutFields = ({ statement }: Mapping): View => {
  const { format, records } = statement.preview;
  const titles = records[0] ?? [];
  const columns = titles.map((title, i): Option => [
    String(i + 1),
    format.header ? `${i + 1}: ${title}` : `${texts.column} ${i + 1}`,
  ]);
  const delimiters = DELIMITERS.map((one): Option => [one, one === '\t' ? texts.tab : one]);
  return html`<div class="fields">
      ${choiceField(texts.date, 'date_column', { options: columns, chosen: format.dateColumn })}
      ${choiceField(texts.amount, 'amount_column', { options: columns, chosen: format.amountColumn })}
      ${choiceField(texts.reference, 'reference_column', { options: [['-', texts.none], ...columns], chosen: format.referenceColumn })}
      ${choiceField(texts.dateFormat, 'date_format', { options: same(DATE_FORMATS), chosen: format.dateFormat })}
      ${choiceField(texts.decimal, 'decimal', { options: same(DECIMALS), chosen: format.decimal })}
      ${choiceField(texts.delimiter, 'delimiter', { options: delimiters, chosen: format.delimiter })}
      ${choiceField(texts.encoding, 'encoding', { options: same(STATEMENT_ENCODINGS), chosen: format.encoding })}
      ${numberField(texts.skip, 'skip', MOST_SKIPPED_LINES, format.skipLines)}
    </div>
    <label><input type="checkbox" name="header" checked=${format.header} /> ${texts.header}</label>`;
};

const comparisonFields = ({ statement, funds, names }: Mapping): View => {
  const { typed } = statement;
  return html`<div class="fields">
      ${fundField(words.fund, { funds, names }, { value: typed.fund, required: true })}
      ${dayField(texts.from, { name: 'from', value: typed.from })}
      ${dayField(texts.to, { name: 'to', value: typed.to })}
      ${numberField(texts.window, 'window', LONGEST_WINDOW_DAYS, typed.window)}
      ${field(texts.tolerance, { name: 'tolerance', value: typed.tolerance, required: true, ...AMOUNT })}
    </div>
    <p><small>${texts.daysOfFile}</small></p>
    <label>
      <input type="checkbox" name="require_reference" checked=${typed.requireReference} />
      ${texts.requireReference}
    </label>`;
};

export const uploadForm = (title: string): View =>
  html`<form
    class="actions"
    aria-label=${title}
    ...${{
      'hx-post': '/reconciliation/statement',
      'hx-encoding': 'multipart/form-data',
      'hx-target': '#reconciliation',
    }}
  >
    ${field(texts.file, { type: 'file', name: 'statement', accept: '.csv,.txt,text/csv', required: true })}
    <button>${texts.read}</button>
  </form>`;

export const mappingForm = (mapping: Mapping, visit: Visit): View =>
  html`<form method="post" action="/reconciliation/compare">
    ${tokenField(visit)}
    <input type="hidden" name="statement" value=${mapping.id} />
    <h2>${texts.mapping}: <span class="code">${mapping.statement.name}</span></h2>
    ${layoutFields(mapping)}
    <p>
      <button class="secondary small" formaction="/reconciliation/preview" formnovalidate>
        ${texts.again}
      </button>
    </p>
    <h3 id="preview-title">${texts.preview}</h3>
    ${previewTable(mapping)}
    <h2>${texts.comparison}</h2>
    ${comparisonFields(mapping)}
    <p><button>${texts.compare}</button></p>
  </form>`;
