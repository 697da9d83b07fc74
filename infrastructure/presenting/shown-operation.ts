import type { ExplainedPrice } from '../../application/audit/explained-price.ts';
import { operatorOf } from '../../application/command-handling/actors.ts';
import type { ShowRequest, ShownEvent, ShownOperation } from '../../application/audit/show-operation.ts';
import { AMOUNT_FIELDS } from '../../application/event-codec/amount-fields.ts';
import type { ExplainedLine } from '../../domain/curve/explained-value.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { installmentsOf } from '../../domain/loan/state.ts';
import type { FundNames } from '../../domain/fund/names.ts';
import { jsonAmount, printedRows, tableOf } from './columns.ts';
import type { Column, Printing, Rows } from './columns.ts';
import { PLAIN, priceText } from './explained-price.ts';
import { withNameBeside } from './fund-names.ts';
import { inOneLine, shownOnly } from './terminal-text.ts';

const WHY = { later_date: 'counts from a later day', recorded_later: 'was recorded later' } as const;

const priceJson = (event: LoanEvent, price: ExplainedPrice): object => ({
  ...priceText(event, price, PLAIN),
  lines: price.lines.map(lineJson),
});
const carriedJson = ({ amount, date, days, factor, carried }: ExplainedLine['face']): object => ({
  amount,
  date,
  days,
  factor,
  carried,
});
const lineJson = (line: ExplainedLine): object => ({
  installment_code: line.installmentCode,
  face: carriedJson(line.face),
  credits: line.credits.map(carriedJson),
  exact: line.exact,
  running_total: line.runningTotal,
  rounded_total: jsonAmount(line.roundedTotal),
  present_value: jsonAmount(line.presentValue),
});

const inAmounts = (value: unknown, name = ''): unknown => {
  if (typeof value === 'number') return AMOUNT_FIELDS.has(name) ? jsonAmount(value) : value;
  if (Array.isArray(value)) return value.map((one) => inAmounts(one, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inAmounts(one, key)]));
};

const eventJson = (shown: ShownEvent): object => {
  const { recorded, businessDate, leftOut, price } = shown;
  const { metadata } = recorded;
  return {
    revision: Number(recorded.revision),
    type: recorded.type,
    event_id: recorded.id,
    business_date: businessDate,
    recorded_at: metadata.recordedAt,
    counts: leftOut === undefined,
    ...(leftOut && { left_out: leftOut }),
    actor: metadata.actor,
    operator: operatorOf(metadata.actor) ?? null,
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    ...(metadata.idempotency && {
      idempotency: { endpoint: metadata.idempotency.endpoint, key: metadata.idempotency.key },
    }),
    hash: metadata.hash,
    data: inAmounts(shown.payload),
    ...(price && { price: priceJson(shown.event, price) }),
  };
};

const stateJson = ({ state }: ShownOperation, names: FundNames): object => {
  if (!('schedule' in state)) return { status: state.status };
  const terms = withNameBeside(
    {
      status: state.status,
      fund_id: state.fundId,
      product_type: state.productType,
      acquisition_value: jsonAmount(state.acquisitionValue),
      date_issued: state.dateIssued,
      daily_factor: state.pricing.dailyFactor,
      documents: state.documents.length,
      borrower_forgotten_at: state.borrowerForgottenAt ?? null,
    },
    names,
  );
  if (!('changed' in state)) return { ...terms, installments: [] };
  const installments = installmentsOf(state).map((one) => ({
    code: one.code,
    due_date: one.dueDate,
    face_value: jsonAmount(one.faceValue),
    status: one.status,
    ...('credits' in one ? { credits: one.credits } : { settled_at: one.settledAt }),
    ...('settledValue' in one && { settled_value: jsonAmount(one.settledValue) }),
  }));
  const { disbursedValue, exitBasis: exit_basis, receivedValue } = state;
  return {
    ...terms,
    disbursed_value: jsonAmount(disbursedValue),
    exit_basis,
    received_value: jsonAmount(receivedValue),
    installments,
  };
};

/** One JSON object; numbers of the curve as decimal text, amounts among them in reais. */
const inJson = (shown: ShownOperation, { asOf, knownAt }: ShowRequest, names: FundNames): string =>
  `${JSON.stringify({
    stream: shown.stream,
    as_of: asOf ?? null,
    known_at: knownAt ?? null,
    chain_broken_at: shown.brokenAt ?? null,
    operation: stateJson(shown, names),
    present_value: asOf === undefined ? null : shown.payoff.map(lineJson),
    events: shown.events.map(eventJson),
  })}\n`;

interface PriceStep {
  readonly name: string;
  readonly part: ExplainedLine['face'];
  readonly isCredit: boolean;
  readonly result?: ExplainedLine;
}

const PRICE_COLUMNS: readonly Column<PriceStep>[] = [
  { name: 'line', of: ({ name }) => name, verbatim: true },
  { name: 'date', of: ({ part }) => part.date },
  { name: 'amount', of: ({ part }) => part.amount, align: 'right' },
  { name: 'days', of: ({ part }) => part.days },
  { name: 'v^days', of: ({ part }) => part.factor },
  { name: 'carried', of: ({ part, isCredit }) => `${isCredit ? '-' : ''}${part.carried}` },
  { name: 'running_total', of: ({ result }) => result?.runningTotal },
  { name: 'rounded', of: ({ result }) => result?.roundedTotal, amount: true },
  { name: 'value', of: ({ result }) => result?.presentValue, amount: true },
];

const stepsOf = (line: ExplainedLine): readonly PriceStep[] =>
  [line.face, ...line.credits].map((part, i) => ({
    name: i === 0 ? line.installmentCode : 'credit',
    part,
    isCredit: i > 0,
    ...(i === line.credits.length && { result: line }),
  }));

const IN_REAIS = 'amounts in reais (R$), those that are carried with all their digits\n';

const linesText = (lines: readonly ExplainedLine[]): string =>
  lines.length === 0
    ? ''
    : `${IN_REAIS}${tableOf(PRICE_COLUMNS, lines.flatMap(stepsOf))}`.replace(/^(?=.)/gm, '      ');

const pricedText = (event: LoanEvent, price: ExplainedPrice): string => {
  const { title, steps } = priceText(event, price, PLAIN);
  return `    ${title}\n${linesText(price.lines)}${steps.map((step) => `      ${step}\n`).join('')}`;
};

const valueText = (value: unknown): string => {
  if (Array.isArray(value) && value.length === 0) return '';
  return typeof value === 'string' ? inOneLine(value) : JSON.stringify(value);
};
const fieldText = (name: string, value: unknown): string => `${name}: ${valueText(value)}`.trimEnd();

const eventText = (shown: ShownEvent): string => {
  const { recorded, businessDate, leftOut, price } = shown;
  const { metadata } = recorded;
  const key = metadata.idempotency;
  const fields = Object.entries(inAmounts(shown.payload) as object).map(
    ([name, value]) => `      ${fieldText(name, value)}\n`,
  );
  return [
    `${String(recorded.revision).padStart(4)}  ${recorded.type}  ${businessDate}  recorded ${metadata.recordedAt}`,
    `${leftOut ? `  (left out: it ${WHY[leftOut]})` : ''}\n`,
    `    by ${metadata.actor}, request ${metadata.correlationId}, caused by ${metadata.causationId}`,
    `${key ? `, key ${key.key} of ${key.endpoint}` : ''}\n    id ${recorded.id}\n`,
    ...fields,
    price ? pricedText(shown.event, price) : '',
  ].join('');
};

const headText = (shown: ShownOperation, { code, asOf, knownAt }: ShowRequest, names: FundNames): string => {
  const day = asOf === undefined ? '' : ` on ${asOf}`;
  const known = knownAt === undefined ? '' : ` as it was known at ${knownAt}`;
  const { installments, ...fields } = stateJson(shown, names) as {
    readonly installments?: readonly object[];
  };
  const chain = shown.brokenAt === undefined ? 'whole' : `broken at revision ${shown.brokenAt}`;
  const listed = [...Object.entries(fields), ['hash chain', chain] as const];
  return [
    `Operation ${code}${day}${known}\n`,
    ...listed.map(([name, value]) => `  ${fieldText(name, value)}\n`),
    ...(installments ?? []).map(
      (one) => `  installment ${Object.values(one).map(valueText).filter(Boolean).join('  ')}\n`,
    ),
  ].join('');
};

const inText = (shown: ShownOperation, request: ShowRequest, names: FundNames): string => {
  const { asOf } = request;
  const payoff =
    asOf === undefined ? '' : `\nPresent value of what is open on ${asOf}\n${linesText(shown.payoff)}`;
  return `${headText(shown, request, names)}${payoff}\nEvents\n${shown.events.map(eventText).join('')}`;
};

const EVENT_COLUMNS: readonly Column<ShownEvent>[] = [
  { name: 'revision', of: ({ recorded }) => Number(recorded.revision) },
  { name: 'type', of: ({ recorded }) => recorded.type },
  { name: 'event_id', of: ({ recorded }) => recorded.id },
  { name: 'business_date', of: ({ businessDate }) => businessDate },
  { name: 'recorded_at', of: ({ recorded }) => recorded.metadata.recordedAt },
  { name: 'counts', of: ({ leftOut }) => leftOut === undefined },
  { name: 'actor', of: ({ recorded }) => recorded.metadata.actor },
  { name: 'correlation_id', of: ({ recorded }) => recorded.metadata.correlationId },
  { name: 'data', of: ({ payload }) => inAmounts(payload) },
];

export const printShown = (
  shown: ShownOperation,
  request: ShowRequest,
  printing: Printing & { readonly names: FundNames },
): Rows<string> => {
  const { names } = printing;
  switch (printing.format) {
    case 'table':
      return [shownOnly(inText(shown, request, names))];
    case 'json':
      return [inJson(shown, request, names)];
    case 'csv':
      return printedRows(EVENT_COLUMNS, shown.events, printing);
  }
};
