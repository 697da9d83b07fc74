import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { DeskLogLine, DeskQuery } from '../../../../application/desk/desk.ts';
import { endOfBusinessDay } from '../../../../application/support/business-day.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { addDays } from '../../../../domain/shared/calendar-date.ts';
import { outcomeBadge, empty, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, count, dayTyped, instant } from '../../format.ts';
import { listing } from '../../desk-log.ts';
import { fundChoice, fundNames, fundView } from '../../funds.ts';
import { operationLink, withQuery } from '../../paths.ts';
import { ConsoleProblem, typedOr, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import { dayField, field } from '../../forms.ts';
import { words } from '../words.ts';
import type { DeskAction, DeskOutcome, DeskWay } from '../../../../domain/desk/line.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

const texts = inLanguages({
  title: ['Registro', 'Desk log'],
  intro: [
    'Quem viu e fez o quê: no console, na linha de comando e no tópico de decisões. O mais novo vem primeiro. Dados de tomadores e o que foi digitado não entram aqui.',
    'Who saw and did what: at the console, on the command line and on the topic of decisions. The newest comes first. Nothing of a borrower and nothing that was typed is in it.',
  ],
  subject: ['Pessoa (subject)', 'Person (subject)'],
  nothing: ['Não há registro.', 'Nothing is recorded.'],
  whatComes: [
    'Cada página vista, cada decisão e cada ajuste vira uma linha aqui; um filtro pode escondê-la.',
    'Each page that is seen, each decision and each setting becomes a line here; a filter may hide it.',
  ],
  at: ['Quando', 'When'],
  who: ['Quem', 'Who'],
  way: ['Por onde', 'Way in'],
  action: ['Ação', 'Action'],
  older: ['Mais antigos', 'Older ones'],
  badDay: [
    'Desde: informe uma data que existe, como 20/06/2026.',
    'Since: give a date that exists, such as 20/06/2026.',
  ],
  ways: {
    console: ['console', 'console'],
    command_line: ['linha de comando', 'command line'],
    topic: ['tópico', 'topic'],
  } satisfies Record<DeskWay, Both>,
  actions: {
    signed_in: ['entrou', 'signed in'],
    signed_out: ['saiu', 'signed out'],
    refused: ['foi recusado', 'was refused'],
    viewed: ['viu', 'viewed'],
    listed: ['listou', 'listed'],
    searched: ['buscou', 'searched'],
    downloaded: ['abriu documento', 'opened a document'],
    exported: ['exportou', 'exported'],
    decided: ['decidiu', 'decided'],
    confirmed: ['confirmou', 'confirmed'],
    withdrawn: ['retirou', 'withdrew'],
    configured: ['configurou', 'configured'],
  } satisfies Record<DeskAction, Both>,
  outcomes: {
    done: ['feito', 'done'],
    applied: ['efetivado', 'carried out'],
    already_applied: ['já estava efetivado', 'was carried out before'],
    awaiting_confirmation: ['à espera de outra pessoa', 'awaits another person'],
    refused: ['recusado', 'refused'],
    failed: ['falhou', 'failed'],
  } satisfies Record<DeskOutcome, Both>,
});

const PAGE_SIZE = 100;
/** @see DeskLogLine */
const PLACE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) desk-\S+ \d+$/;

/** Undefined for what is none: the list then begins at its start. */
const placeIn = (text: string | null): string | undefined => {
  const [place, at = ''] = PLACE.exec(text ?? '') ?? [];
  return Number.isNaN(Date.parse(at)) ? undefined : place;
};

interface Asked {
  /** A day in Sao Paulo. */
  readonly since?: string;
  readonly subject?: string;
  readonly fund?: string;
  readonly code?: string;
}

const askedOf = ({ query }: Visit): Asked => {
  const typed = ['since', 'subject', 'fund', 'code'].map((name) => [name, (query.get(name) ?? '').trim()]);
  return Object.fromEntries(typed.filter(([, value]) => value !== '')) as Asked;
};

/** @throws ConsoleProblem for what is no date */
const queryOf = ({ since, fund, ...asked }: Asked): DeskQuery => {
  const day = typedOr(since ?? '', dayTyped, () => new ConsoleProblem(422, () => texts.badDay));
  return { ...asked, since: day && endOfBusinessDay(addDays(day, -1)), fundId: fund };
};

const form = (asked: Asked, funds: readonly string[], names: FundNames): View =>
  html`<form method="get" action="/desk" class="actions">
    ${dayField(words.since, { name: 'since', value: asked.since })}
    ${fundChoice({ funds, names }, asked.fund)}
    ${field(texts.subject, { name: 'subject', value: asked.subject ?? '', autocomplete: 'off' })}
    ${field(words.operationCode, { name: 'code', value: asked.code ?? '', autocomplete: 'off' })}
    <button class="secondary">${words.filter}</button>
  </form>`;

const table = (lines: readonly DeskLogLine[], names: FundNames): View =>
  tableView(
    { label: texts.title, dense: true },
    [
      [texts.at, ({ at }) => instant(at), 'date'],
      [
        texts.who,
        ({ name, subject }) => html`${name}${subject && html` <small class="code">${subject}</small>`}`,
      ],
      [texts.way, ({ way }) => texts.ways[way]],
      [texts.action, ({ action }) => texts.actions[action]],
      [
        words.outcome,
        ({ outcome, reason }) =>
          html`${outcomeBadge(outcome, texts.outcomes[outcome])}${reason && html` <small class="code">${reason}</small>`}`,
      ],
      [words.operation, operationLink],
      [words.fund, ({ fundId }) => fundId && fundView(fundId, names), 'code'],
      [words.decision, ({ decision }) => decision, 'code'],
      [words.count, (line) => line.count !== undefined && count(line.count), 'number'],
      [words.value, ({ sum }) => sum !== undefined && amount(sum), 'number'],
    ],
    lines,
  );

const listed = async (query: DeskQuery, { desk }: Desk): Promise<readonly DeskLogLine[]> => {
  const lines: DeskLogLine[] = [];
  for await (const line of desk.lines(query)) {
    lines.push(line);
    if (lines.length > PAGE_SIZE) break;
  }
  return lines;
};

const show = async (visit: Visit, app: Desk): Promise<Answer> => {
  const asked = askedOf(visit);
  const before = placeIn(visit.query.get('before'));
  const [found, funds, names] = await Promise.all([
    listed({ ...queryOf(asked), before, newestFirst: true }, app),
    app.clients.funds(),
    fundNames(app, visit),
  ]);
  const lines = found.slice(0, PAGE_SIZE);
  const older =
    found.length > PAGE_SIZE ? withQuery('/desk', { ...asked, before: lines.at(-1)!.place }) : undefined;
  return {
    kind: 'page',
    logged: listing(lines.length, asked.fund, { decision: 'desk_log' }),
    body: html`
      <p>${texts.intro}</p>
      ${form(asked, funds, names)}
      ${lines.length === 0 ? empty(texts.nothing, texts.whatComes) : table(lines, names)}
      ${older && html`<p><a href=${older} rel="next">${texts.older}</a></p>`}
    `,
  };
};

export const deskPage: Page = {
  path: '/desk',
  title: () => texts.title,
  needs: 'desk_log',
  routes: [view('/desk', show)],
};
