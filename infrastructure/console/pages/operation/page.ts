import type { OperationPlace } from '../../../../application/command-handling/operation.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { LoanDetails } from '../../../../application/loans/loan-details.ts';
import { html, section, empty, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { tokenField } from '../../forms.ts';
import { decisionPath, operationIn, operationPath, withQuery, documentPath } from '../../paths.ts';
import { ConsoleProblem, part, typedOr, view } from '../../page.ts';
import type { Visit, Answer, Route } from '../../page.ts';
import { OFFERED, isAwaiting, keyOf } from '../decisions/offered.ts';
import { decisionButtons } from '../decisions/worklist.ts';
import { texts } from './texts.ts';
import type { ShownEvent } from '../../../../application/audit/show-operation.ts';
import { OperationQuarantinedError, ReadModelBehindError } from '../../../../application/loans/read-loan.ts';
import { isProposalCode } from '../../../../application/schemas/values.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { dayTyped, momentTyped, count, instant } from '../../format.ts';
import { fundNames } from '../../funds.ts';
import { words } from '../words.ts';
import { headerView } from './header.ts';
import { scheduleView } from './schedule.ts';
import { eventView, timelineView, webhooksTable } from './timeline.ts';
import { shownName } from '../../../support/stored-files.ts';
import { fieldLabel } from './recorded-texts.ts';

type Document = LoanDetails['documents'][number] & { readonly value: string };
interface Of extends OperationPlace {
  readonly documents: LoanDetails['documents'];
}

const KIB = 1_024;
const MOST_SHOWN = 2;

const canBeShown = (one: LoanDetails['documents'][number]): one is Document =>
  one.value !== null && /\.pdf$/i.test(one.value);

const chosenDocuments = ({ documents }: Of, { query }: Visit): readonly Document[] =>
  [...new Set(query.getAll('document'))]
    .flatMap((id) => documents.filter(({ documentId }) => documentId === id))
    .filter(canBeShown)
    .slice(0, MOST_SHOWN);

const addressWith = (of: Of, { query }: Visit, chosen: readonly Document[]): string => {
  const asked = new URLSearchParams(query);
  asked.delete('document');
  for (const { documentId } of chosen) asked.append('document', documentId);
  const text = asked.toString();
  return `${operationPath(of.applicationId, of.code)}${text && `?${text}`}#documents-title`;
};

const choice = (one: LoanDetails['documents'][number], of: Of, visit: Visit): View => {
  if (!canBeShown(one)) return null;
  const chosen = chosenDocuments(of, visit);
  const others = chosen.filter((other) => other.documentId !== one.documentId);
  const isChosen = others.length < chosen.length;
  const to = addressWith(of, visit, isChosen ? others : [...others.slice(0, MOST_SHOWN - 1), one]);
  const says = isChosen ? texts.close : chosen.length === 0 ? texts.showBeside : texts.showBoth;
  return html`<a href=${to} aria-label=${`${says}: ${shownName(one.value)}`}>${says}</a>`;
};

const frameView = (one: Document, { applicationId, code }: Of): View =>
  html`<iframe
    class="document"
    title=${shownName(one.value)}
    src=${documentPath(applicationId, code, one.documentId)}
  ></iframe>`;

const documentsView = (of: Of, visit: Visit): View => {
  const address = (documentId: string): string => documentPath(of.applicationId, of.code, documentId);
  return section(
    'documents-title',
    words.documents,
    tableView(
      { titledBy: 'documents-title', dense: true, empty: empty(words.noDocuments) },
      [
        [
          texts.document,
          ({ documentId, value }) =>
            value === null
              ? html`<span class="quiet">${texts.documentForgotten}</span>`
              : html`<a href=${address(documentId)}>${shownName(value)}</a>`,
        ],
        [words.kind, ({ type }) => type],
        [texts.size, ({ size }) => `${count(Math.ceil(size / KIB))} KiB`, 'number'],
        [fieldLabel('received_at'), ({ receivedAt }) => instant(receivedAt), 'date'],
        ['SHA-256', ({ sha256 }) => html`<span title=${sha256}>${sha256.slice(0, 8)}…</span>`, 'code'],
        [texts.look, (one) => choice(one, of, visit)],
      ],
      of.documents,
    ),
  );
};

const actionsView = async (
  operation: OperationPlace,
  { loan }: LoanDetails,
  visit: Visit,
  app: Desk,
): Promise<View> => {
  const { status, fund_id: fundId } = loan;
  const [decides, settles] = [
    may(visit, 'decide', fundId),
    may(visit, 'confirm', fundId) || may(visit, 'withdraw', fundId),
  ];
  if (visit.readOnly || !isAwaiting(status) || !(decides || settles)) return null;
  if (await app.administrator.confirmations.awaitsOn(operation))
    return settles && html`<p><a href="/awaiting">${texts.awaitsAnother}</a></p>`;
  return (
    decides &&
    html`<form method="post" action="/decisions/preview" class="actions">
      ${tokenField(visit)}
      <input type="hidden" name="operation" value=${keyOf(operation)} />
      ${decisionButtons(OFFERED[status], visit)} <a href=${decisionPath(operation)}>${texts.decide}</a>
    </form>`
  );
};

/** Events of a page: an operation of forty years has thousands. */
const EVENTS = 50;

const placeOf = (visit: Visit): OperationPlace => {
  const place = operationIn(visit);
  if (!/^[0-9a-f-]{36}$/.test(place.applicationId) || !isProposalCode(place.code))
    throw new ConsoleProblem(404, () => texts.noOperation);
  return place;
};

/** What is asked for of the past. @throws ConsoleProblem for what is no date or no moment */
const positionOf = ({ query }: Visit) => {
  const knownAt = query.get('known_at') ?? '';
  const refusal = (of: 'noDate' | 'noMoment') => (): ConsoleProblem =>
    new ConsoleProblem(400, () => texts[of]);
  const asOf = typedOr(query.get('as_of') ?? '', dayTyped, refusal('noDate'));
  return { asOf, knownAt, known: typedOr(knownAt, momentTyped, refusal('noMoment')) };
};

const showing = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DomainError && error.code === 'loan_not_found'
      ? new ConsoleProblem(404, () => texts.noOperation)
      : error;
  }
};

const detailsOf = async ({ loans }: Desk, { applicationId, code }: OperationPlace) => {
  const behind = { details: undefined, notShown: texts.behind };
  try {
    return { ...behind, details: await loans.read({ applicationId }, code) };
  } catch (error) {
    if (error instanceof OperationQuarantinedError) return { ...behind, notShown: texts.quarantined };
    if (error instanceof ReadModelBehindError) return behind;
    throw error;
  }
};

const pageOf = (events: readonly ShownEvent[], before: string | null) => {
  const end = before !== null && /^\d{1,9}$/.test(before) ? Number(before) : events.length;
  const start = Math.max(0, Math.min(end, events.length) - EVENTS);
  return { page: events.slice(start, end).reverse(), next: start > 0 ? start : undefined };
};

const addressOf = ({ path, query }: Visit, before: number | undefined): string => {
  const kept = { ...Object.fromEntries(query), before: before === undefined ? undefined : String(before) };
  return `${withQuery(path, kept)}#timeline`;
};

const show = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { query } = visit;
  const place = placeOf(visit);
  const { asOf, knownAt, known } = positionOf(visit);
  const [shown, { details, notShown }, names] = await Promise.all([
    showing(() => app.audit.show({ ...place, asOf, knownAt: known, prices: 'none' })),
    detailsOf(app, place),
    fundNames(app, visit),
  ]);
  const { page, next } = pageOf(shown.events, query.get('before'));
  const [deliveries, clientNames] = await Promise.all([
    app.webhooks.deliveries.ofRecorded(page.map(({ recorded }) => recorded)),
    app.clients.namesOf(page.map(({ recorded }) => recorded.metadata.actor)),
  ]);
  const path = operationPath(place.applicationId, place.code);
  const newest = query.get('before') === null ? undefined : addressOf(visit, undefined);
  const older = next === undefined ? undefined : addressOf(visit, next);
  const of = { ...place, documents: details?.documents ?? [] };
  const knowsBorrower = may(visit, 'borrowers', details?.loan.fund_id);
  const frames = knowsBorrower ? chosenDocuments(of, visit).map((one) => frameView(one, of)) : [];
  const documents = knowsBorrower && html`${documentsView(of, visit)} ${frames.length === 1 && frames}`;
  return {
    kind: 'page',
    title: `${words.operation} ${place.code}`,
    body: html`
      ${details && (await actionsView(place, details, visit, app))}
      ${headerView({ ...place, names, shown, details, notShown, asOf, knownAt, known }, documents)}
      ${frames.length > 1 && html`<div class="side-by-side">${frames}</div>`} ${scheduleView(shown.state)}
      ${timelineView({ path, events: page, clientNames, older, newest })}
      ${section('webhooks-title', texts.webhooks, webhooksTable(deliveries, texts.webhooks))}
    `,
  };
};

const showEvent = async (visit: Visit, { audit, webhooks }: Desk): Promise<View> => {
  const place = placeOf(visit);
  const revision = visit.params['revision'] ?? '';
  if (!/^\d{1,9}$/.test(revision)) throw new ConsoleProblem(404, () => texts.noOperation);
  const shown = await showing(() => audit.show({ ...place, prices: BigInt(revision) }));
  const one = shown.events.find(({ recorded }) => String(recorded.revision) === revision);
  if (one === undefined) throw new ConsoleProblem(404, () => texts.noOperation);
  const deliveries = await webhooks.deliveries.ofRecorded([one.recorded]);
  return eventView(one, deliveries);
};

export const operationRoutes: readonly Route[] = [
  view('/operations/:application/:code', show),
  part('/operations/:application/:code/events/:revision', showEvent),
];
