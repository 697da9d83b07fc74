import { statesPrice } from '../../../../application/audit/explained-price.ts';
import type { ShownEvent } from '../../../../application/audit/show-operation.ts';
import { date, instant } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { ShownDelivery } from '../../../../application/webhooks/deliveries.ts';
import { eventFacts, EVENTS, noteOf } from './event-text.ts';
import { priceView } from './price.ts';
import { recordedPairs } from './recorded.ts';
import { texts } from './texts.ts';
import { runFacts, runName, runsOf } from './timeline-groups.ts';
import { webhooksTable } from './webhooks.ts';

interface Timeline {
  /** Address of the operation. */
  readonly path: string;
  /** Newest first. */
  readonly events: readonly ShownEvent[];
  readonly clientNames: ReadonlyMap<string, string>;
  /** Where the page with older ones is; undefined when there are none. */
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

/** One event in the list, with what stands below it. */
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

/** Events of one kind in one line, each of them below it. */
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

/** How its price came about, and what is stored of it. */
export const recordedView = ({ recorded, event, payload, price }: ShownEvent): View => {
  const { metadata } = recorded;
  const key = metadata.idempotency;
  const about: readonly (readonly [string, string])[] = [
    [texts.eventId, recorded.id],
    [texts.request, metadata.correlationId],
    [texts.cause, metadata.causationId],
    ...(key ? [[texts.key, `${key.key} · ${key.endpoint}`] as const] : []),
    [texts.hash, metadata.hash],
  ];
  const pairs = (all: readonly (readonly [string, View])[]): View =>
    all.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd class="code">${value}</dd>
        </div>`,
    );
  return html`
    ${price && priceView(event, price)}
    <h3>${texts.data}: <span class="code">${recorded.type}</span></h3>
    <dl class="pairs">${pairs(recordedPairs(payload))} ${pairs(about)}</dl>
  `;
};

/** Everything about one event, fetched when a person opens it. */
export const eventView = (shown: ShownEvent, deliveries: readonly ShownDelivery[]): View => {
  return html`
    ${recordedView(shown)}
    <h3>${texts.webhooks}</h3>
    ${webhooksTable(deliveries, texts.webhooks)}
  `;
};
