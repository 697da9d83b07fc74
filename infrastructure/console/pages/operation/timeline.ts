import type { ShownEvent } from '../../../../application/audit/show-operation.ts';
import type { LoanEvent } from '../../../../domain/loan/events.ts';
import { amount, instant, date, count, exact } from '../../format.ts';
import { inLanguages, either, spoken } from '../../language.ts';
import type { Both } from '../../language.ts';
import { empty, facts, tableView, html } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import type { ShownDelivery } from '../../../../application/webhooks/deliveries.ts';
import { deliveryBadge } from '../webhooks/endpoint.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import { statesPrice } from '../../../../application/audit/explained-price.ts';
import { eventFacts, EVENTS, noteOf, METHODS } from './event-text.ts';
import { priceView } from './schedule.ts';
import { AMOUNT_FIELDS } from '../../../../application/event-codec/amount-fields.ts';
import { EXITS, EXIT_STATUSES } from '../../../../domain/loan/exits.ts';
import { fieldName, valueName } from './recorded-texts.ts';

type Fields = Readonly<Record<string, unknown>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
/** Fields that hold days and instants; others may hold texts of people that look like them. */
const OF_TIME = /(_at|date|_issued)$/;
/** The value of a credit, exact: not the name of a file, which is called so too. */
const CREDITED = 'credit.value';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (name: string, value: unknown): string => {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value === 'boolean') return value ? either('sim', 'yes') : either('não', 'no');
  if (typeof value === 'number') return AMOUNT_FIELDS.has(name) ? amount(value) : count(value);
  return typeof value === 'string' ? writtenText(name, value) : JSON.stringify(value);
};

const writtenText = (name: string, value: string): string => {
  if (OF_TIME.test(name) && DAY.test(value)) return date(value);
  if (OF_TIME.test(name) && INSTANT.test(value)) return instant(value);
  if (name === 'daily_factor') return exact(value);
  if (name === CREDITED) return `R$ ${exact(value)}`;
  if (!ENUMERATED.has(name)) return value;
  const methods: Readonly<Record<string, string>> = METHODS;
  return exitText(value) ?? valueName(value) ?? (Object.hasOwn(methods, value) ? methods[value]! : value);
};

const exitText = (value: string): string | undefined => {
  const ways: Readonly<Record<string, { readonly name: Readonly<Record<'pt-BR' | 'en', string>> }>> = {
    ...EXITS,
    ...EXIT_STATUSES,
  };
  return Object.hasOwn(ways, value) ? ways[value]!.name[spoken()].toLowerCase() : undefined;
};

/** Fields whose texts are words of the service and not of those who wrote them. */
const ENUMERATED: ReadonlySet<string> = new Set([
  ...['payment_method', 'value_source', 'exit_basis', 'closing_event', 'status', 'sandbox_outcome', 'reason'],
]);

const listView = (name: string, list: readonly unknown[]): View => {
  if (!list.every(isFields)) return list.map((one) => textOf(name, one)).join(', ');
  const names = [...new Set(list.flatMap((one) => Object.keys(one)))];
  return tableView(
    { label: fieldName(name), dense: true },
    names.map((one): Column<Fields> => [fieldName(one), (row) => valueView(one, row[one])]),
    list,
  );
};

const valueView = (name: string, value: unknown): View => {
  if (Array.isArray(value)) return listView(name, value);
  if (!isFields(value)) return textOf(name, value);
  const parts = Object.entries(value).filter(([, one]) => one !== undefined);
  return parts.map(([key, one], i) => [
    i > 0 && ' · ',
    `${fieldName(key)}: `,
    valueView(name === 'credit' && key === 'value' ? CREDITED : key, one),
  ]);
};

export const recordedPairs = (payload: object): readonly (readonly [string, View])[] =>
  Object.entries(payload).map(([name, value]) => [fieldName(name), valueView(name, value)]);

type Grouped = Extract<LoanEvent, { readonly type: 'InstallmentBecameOverdue' | 'InstallmentSettled' }>;

/** From so many on, events of one kind that follow each other are one line. */
const FEWEST: Readonly<Record<Grouped['type'], number>> = {
  InstallmentBecameOverdue: 2,
  InstallmentSettled: 3,
};

const NAMES = inLanguages({
  InstallmentBecameOverdue: ['parcelas vencidas', 'installments overdue'],
  InstallmentSettled: ['parcelas pagas', 'installments paid'],
} satisfies Record<Grouped['type'], Both>);

const MOST_CODES = 6;

const isGrouped = (event: LoanEvent): event is Grouped => Object.hasOwn(FEWEST, event.type);

const belongs = (one: ShownEvent, other: ShownEvent): boolean =>
  isGrouped(one.event) && one.event.type === other.event.type && one.leftOut === other.leftOut;

const runsOf = (events: readonly ShownEvent[]): readonly (readonly ShownEvent[])[] => {
  const runs: ShownEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last !== undefined && belongs(last[0]!, event)) last.push(event);
    else runs.push([event]);
  }
  return runs.flatMap((run) => {
    const { event } = run[0]!;
    return isGrouped(event) && run.length >= FEWEST[event.type] ? [run] : run.map((one) => [one]);
  });
};

const runName = (run: readonly ShownEvent[]): string =>
  `${run.length} ${NAMES[(run[0]!.event as Grouped).type]}`;

const runFacts = (run: readonly ShownEvent[]): string => {
  const events = run.map(({ event }) => event as Grouped).toReversed();
  const codes = events.map(({ installmentCode }) => installmentCode);
  const named =
    codes.length > MOST_CODES
      ? `${codes.slice(0, MOST_CODES - 1).join(', ')} … ${codes.at(-1)!}`
      : codes.join(', ');
  const paid = events.flatMap((event) => (event.type === 'InstallmentSettled' ? [event.settledValue] : []));
  return paid.length === 0 ? named : `${named}: ${amount(paid.reduce((sum, value) => sum + value, 0))}`;
};

const answerOf = ({ lastResponseStatus, lastError }: ShownDelivery): string =>
  [lastResponseStatus, lastError].filter((one) => one !== null).join(' · ');

export const webhooksTable = (deliveries: readonly ShownDelivery[], label: string): View =>
  tableView(
    { label, dense: true, empty: empty(texts.noWebhooks) },
    [
      [words.event, ({ event }) => event, 'code'],
      [texts.to, ({ url }) => url, 'code'],
      [words.delivery, ({ status }) => deliveryBadge(status)],
      [words.attempts, ({ attempts }) => attempts, 'number'],
      [texts.answer, answerOf],
      [texts.at, (one) => instant(one.deliveredAt ?? one.lastAttemptAt ?? one.createdAt), 'date'],
    ],
    deliveries,
  );

interface Timeline {
  readonly path: string;
  /** Newest first. */
  readonly events: readonly ShownEvent[];
  readonly clientNames: ReadonlyMap<string, string>;
  readonly older: string | undefined;
  readonly newest: string | undefined;
}

const remarkOf = ({ event, payload }: ShownEvent): string | undefined => {
  const remark = (payload as { readonly reason_detail?: string | null }).reason_detail;
  return noteOf(event) ?? remark ?? undefined;
};

const actorOf = (actor: string, names: ReadonlyMap<string, string>): View => {
  const name = names.get(actor);
  return name === undefined ? actor : html`${name} <span class="code quiet">${actor}</span>`;
};

export const entryView = (
  shown: ShownEvent,
  { clientNames }: Pick<Timeline, 'clientNames'>,
  below: View,
): View => {
  const { recorded, event, businessDate, leftOut } = shown;
  const { actor, recordedAt } = recorded.metadata;
  const remark = remarkOf(shown);
  return html`
    <li class=${leftOut ? 'left-out' : undefined}>
      <p class="event">
        <time datetime=${recordedAt}>${instant(recordedAt)}</time>
        <strong>${EVENTS[event.type]}</strong>
        <span>${eventFacts(event)}</span>
      </p>
      ${remark !== undefined && html`<blockquote>${remark}</blockquote>`}
      <p class="quiet">
        ${texts.by} ${actorOf(actor, clientNames)} · ${texts.counts} ${date(businessDate)}
        ${leftOut && html` · <mark>${texts[leftOut]}</mark>`}
      </p>
      ${below}
    </li>
  `;
};

const group = (run: readonly ShownEvent[], timeline: Timeline): View => {
  const times = [run.at(-1)!, run[0]!].map(({ recorded }) => recorded.metadata.recordedAt);
  const days = [...new Set(times.map((at) => instant(at).slice(0, 10)))];
  return html`
    <li class=${run[0]!.leftOut ? 'left-out' : undefined}>
      <details class="group">
        <summary>
          <span class="event">
            <time datetime=${times[0]}>${days.length === 1 ? instant(times[0]!) : days.join(' – ')}</time>
            <strong>${runName(run)}</strong>
            <span>${runFacts(run)}</span>
          </span>
        </summary>
        <ol class="timeline">
          ${run.map((one) => entry(one, timeline))}
        </ol>
      </details>
    </li>
  `;
};

const entry = (shown: ShownEvent, timeline: Timeline): View => {
  const at = String(shown.recorded.revision);
  const fetched = {
    'hx-get': `${timeline.path}/events/${at}`,
    'hx-trigger': 'toggle once',
    'hx-target': `#event-${at}`,
  };
  const details = html`<details ...${fetched}>
    <summary>${statesPrice(shown.event) ? texts.more : texts.moreWithout}</summary>
    <div id=${`event-${at}`}>${texts.loading}</div>
  </details>`;
  return entryView(shown, timeline, details);
};

export const timelineView = (timeline: Timeline): View => {
  const { events, older, newest } = timeline;
  return html`
    <section aria-labelledby="timeline-title" id="timeline">
      <h2 id="timeline-title">${texts.timeline}</h2>
      <ol class="timeline">
        ${runsOf(events).map((run) => (run.length > 1 ? group(run, timeline) : entry(run[0]!, timeline)))}
      </ol>
      ${
        (older !== undefined || newest !== undefined) &&
        html`<p class="actions">
          ${newest !== undefined && html`<a href=${newest}>${texts.newest}</a>`}
          ${older !== undefined && html`<a href=${older} rel="next">${texts.older}</a>`}
        </p>`
      }
    </section>
  `;
};

export const recordedView = ({ recorded, event, payload, price }: ShownEvent): View => {
  const { metadata } = recorded;
  const key = metadata.idempotency;
  const about: readonly (readonly [string, string])[] = [
    [words.event, recorded.id],
    [texts.request, metadata.correlationId],
    [texts.cause, metadata.causationId],
    ...(key ? [[texts.key, `${key.key} · ${key.endpoint}`] as const] : []),
    [texts.hash, metadata.hash],
  ];
  const pairs = [...recordedPairs(payload), ...about].map(
    ([name, value]) => [name, html`<div class="code">${value}</div>`] as const,
  );
  return html`
    ${price && priceView(event, price)}
    <h3>${texts.data}: <span class="code">${recorded.type}</span></h3>
    ${facts(pairs, 'pairs')}
  `;
};

export const eventView = (shown: ShownEvent, deliveries: readonly ShownDelivery[]): View => html`
  ${recordedView(shown)}
  <h3>${texts.webhooks}</h3>
  ${webhooksTable(deliveries, texts.webhooks)}
`;
