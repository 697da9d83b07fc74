import express from 'express';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { ASSETS } from './assets.ts';
import { DeskLog, askedOf } from './desk-log.ts';
import {
  cookieName,
  cookieOf,
  entered,
  guardedForm,
  knownHost,
  limited,
  ownPath,
  secured,
  withSession,
} from './guards.ts';
import type { Known } from './guards.ts';
import { html, written } from './html.ts';
import type { View } from './html.ts';
import { isLanguage, preferred } from './language.ts';
import type { InLanguages } from './language.ts';
import { documentOf } from './layout.ts';
import { Live } from './live.ts';
import { ConsoleProblem } from './page.ts';
import type { Answer, Page, Route, Visit } from './page.ts';
import type { Rows } from '../presenting/columns.ts';
import { PAGES } from './pages/all.ts';
import { receiveFile, receivedForm } from './received-file.ts';
import { statusOf, textsOf } from './problems.ts';
import { sendFile } from './served-file.ts';
import type { App } from '../../application/app.ts';
import { deskOf } from '../../application/desk-view/desk-of.ts';
import { RoleError, may } from '../../application/desk/rights.ts';
import type { Sessions } from './session.ts';

export interface ConsoleSettings {
  /** As it was given to `--host`. */
  readonly host: string;
  readonly operator: string;
  readonly readOnly: boolean;
}

export interface ConsoleDependencies {
  readonly settings: ConsoleSettings;
  readonly service: App;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  readonly sessions: Sessions;
  readonly logger: Logger;
  readonly pages?: readonly Page[];
  readonly liveLookEveryMs?: number;
}

interface ConsoleApp {
  readonly app: Express;
  /** Ends the streams of open pages, which would not end by themselves. */
  close(): void;
}

const LARGEST_FORM = 1_048_576;
const MOST_AT_ONCE = 32;

/** The console as an Express application: what refuses a request comes first, in this order, and then the pages. */
export const createConsoleApp = (dependencies: ConsoleDependencies): ConsoleApp => {
  const { settings, service, sessions, logger, pages = PAGES, liveLookEveryMs } = dependencies;
  const live = new Live({
    changes: () => changesOf(service),
    onError: (error) => logger.warn({ err: error }, 'the console could not look for changes'),
    ...(liveLookEveryMs !== undefined && { lookEveryMs: liveLookEveryMs }),
  });
  const log = new DeskLog(() => service.desk, settings.operator, logger);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.use(secured, knownHost(settings.host), limited(MOST_AT_ONCE));
  app.get('/assets/:name', sendAsset);
  app.get(
    '/enter',
    entered(sessions, (session) => log.record(session, [{ action: 'signed_in' }])),
  );
  app.use(withSession(sessions));
  app.get('/live', openLive(live, sessions));
  app.get('/session', tellSession);
  app.post('/session/language', readForm, guardedForm, chooseLanguage);
  app.post('/session/end', readForm, guardedForm, endSession(sessions, log));
  for (const page of pages)
    for (const route of page.routes) register(app, page, route, { ...dependencies, log });
  app.use(() => {
    throw new ConsoleProblem(404, NO_SUCH_PAGE);
  });
  app.use(answerProblem({ ...dependencies, log }));
  return { app, close: () => live.close() };
};

/** With the log that every answer goes through. */
type Parts = ConsoleDependencies & { readonly log: DeskLog };

/** Differs as soon as something was recorded or delivered; asked every few seconds while a page is open. */
const changesOf = async ({ maintenance, webhooks, audit }: App): Promise<string> =>
  JSON.stringify([await maintenance.places(), await webhooks.lag.read(), audit.background.progress]);

const readForm = express.text({ type: 'application/x-www-form-urlencoded', limit: LARGEST_FORM });

/** The one place where a route's kind decides what has to be true of a request. */
const register = (app: Express, page: Page, route: Route, dependencies: Parts): void => {
  const asked = askedOf(route);
  const handle = serve(page, route, dependencies);
  switch (route.kind) {
    case 'view':
      return void app.get(route.path, asked, handle);
    case 'query':
      return void app.post(route.path, asked, readForm, guardedForm, handle);
    case 'upload':
      return void app.post(route.path, asked, guardedForm, receiveFile(route.largest), handle);
    case 'action':
      return void app.post(route.path, asked, readForm, guardedForm, writable(dependencies.settings), handle);
  }
};

const writable =
  ({ readOnly }: ConsoleSettings): RequestHandler =>
  (_req, _res, next) => {
    if (readOnly) throw new ConsoleProblem(403, ONLY_READING);
    next();
  };

const serve =
  (page: Page, route: Route, dependencies: Parts): RequestHandler =>
  async (req, res) => {
    const stop = new AbortController();
    res.once('close', () => stop.abort());
    const visit = visitOf(req, res, dependencies, stop.signal);
    const { needs = 'see' } = page;
    if (!may(visit, needs)) throw new RoleError(needs);
    const answer = await route.handle(visit, deskOf(dependencies.service, visit.person));
    if (route.kind === 'action') {
      const { operator } = dependencies.settings;
      // Ids and codes alone: what was typed is not for the log.
      dependencies.logger.info({ ...visit.params, operator, action: route.path }, 'an action of the console');
    }
    try {
      await dependencies.log.answered(req, res, answer);
    } catch (error) {
      if (answer.kind === 'file') await leave(answer.content);
      throw error;
    }
    await send(res, answer, { page, visit, dependencies });
  };

/** What a file would have been read from is closed. */
const leave = async (content: Rows<string | Uint8Array>): Promise<void> => {
  if (Symbol.asyncIterator in content) await content[Symbol.asyncIterator]().return?.();
};

const visitOf = (
  req: Request,
  res: Response,
  { settings, clock, realClock, logger, log }: Parts,
  signal: AbortSignal,
): Visit => {
  const { session } = res.locals as Known;
  return {
    language: session.language ?? preferred(req.acceptsLanguages()),
    operator: settings.operator,
    readOnly: settings.readOnly,
    path: req.path,
    formToken: session.formToken,
    ...(session.person && { person: session.person }),
    params: req.params as Readonly<Record<string, string>>,
    query: new URL(req.originalUrl, 'http://console').searchParams,
    ...(req.files
      ? receivedForm(req)
      : { fields: new URLSearchParams((req.body as string | undefined) ?? '') }),
    ...{ clock, realClock, logger, signal },
    record: (entries) => log.record(session, entries),
  };
};

/** Those that the person's roles open. */
const pagesFor = (
  visit: Pick<Visit, 'person'>,
  { pages = PAGES }: Pick<ConsoleDependencies, 'pages'>,
): readonly Page[] => pages.filter(({ needs = 'see' }) => may(visit, needs));

interface Around {
  readonly page: Page;
  readonly visit: Visit;
  readonly dependencies: ConsoleDependencies;
}

const send = async (res: Response, answer: Answer, around: Around): Promise<void> => {
  switch (answer.kind) {
    case 'page': {
      const { visit, dependencies } = around;
      const { of: page = around.page } = answer;
      const title = answer.title ?? page.title[visit.language];
      const pages = pagesFor(visit, dependencies);
      sendHtml(res, answer.status ?? 200, documentOf({ ...visit, title, body: answer.body, page, pages }));
      return;
    }
    case 'part':
      sendHtml(res, answer.status ?? 200, written(answer.body));
      return;
    case 'redirect':
      sendOn(res, ownPath(answer.to));
      return;
    case 'file':
      await sendFile(res, answer);
  }
};

/** What htmx asked for would be put into the page that is open: it is told to leave that one. */
const sendOn = (res: Response, to: string): void => {
  if (res.req.headers['hx-request'] === 'true') res.setHeader('HX-Redirect', to).sendStatus(204);
  else res.redirect(303, to);
};

const sendHtml = (res: Response, status: number, text: string): void => {
  res.status(status).type('text/html; charset=utf-8').send(text);
};

const sendAsset: RequestHandler = (req, res) => {
  const file = ASSETS.get(req.params['name'] as string);
  if (file === undefined) throw new ConsoleProblem(404, NO_SUCH_PAGE);
  res.setHeader('Cache-Control', 'private, max-age=3600');
  res.sendFile(file, { cacheControl: false, dotfiles: 'allow' });
};

const openLive =
  (live: Live, sessions: Sessions): RequestHandler =>
  (req, res) => {
    const id = cookieOf(req)!;
    if (!live.open(res, () => sessions.find(id, false) !== undefined))
      throw new ConsoleProblem(503, TOO_MUCH);
  };

/** Asked by a form that is typed into, which goes on with the token of a session that was begun meanwhile. */
const tellSession: RequestHandler = (_req, res) => {
  res.type('text/plain').send((res.locals as Known).session.formToken);
};

const chooseLanguage: RequestHandler = (req, res) => {
  const { session } = res.locals as Known;
  const chosen = new URLSearchParams(String(req.body)).get('language');
  if (isLanguage(chosen)) session.language = chosen;
  res.redirect(303, backOf(req));
};

/** The page that the form stood on, of this console alone. */
const backOf = (req: Request): string => {
  const from = URL.parse(req.headers.referer ?? '');
  return from?.host === req.headers.host ? ownPath(`${from!.pathname}${from!.search}`) : '/';
};

const endSession =
  (sessions: Sessions, log: DeskLog): RequestHandler =>
  async (req, res) => {
    sessions.end(cookieOf(req)!);
    res.clearCookie(cookieName(req));
    await log.record((res.locals as Known).session, [{ action: 'signed_out' }]);
    delete (res.locals as Partial<Known>).session;
    throw new ConsoleProblem(401, ENDED);
  };

const NO_SUCH_PAGE: InLanguages<string> = {
  'pt-BR': 'Esta página não existe. Escolha uma das páginas acima.',
  en: 'There is no such page. Choose one of the pages above.',
};
const ONLY_READING: InLanguages<string> = {
  'pt-BR':
    'Este console foi aberto com --read-only: nada pode ser alterado nele. Peça a decisão a quem opera o fundo.',
  en: 'This console was opened with --read-only: nothing can be changed here. Ask an operator of the fund to decide.',
};
const TOO_MUCH: InLanguages<string> = {
  'pt-BR': 'Há páginas demais abertas. Feche algumas e tente de novo.',
  en: 'Too many pages are open. Close some and try again.',
};
const ENDED: InLanguages<string> = {
  'pt-BR':
    'A sessão foi encerrada. Para entrar de novo, peça um novo endereço no terminal do console (tecla n).',
  en: 'The session has ended. To come in again, ask for a new address on the terminal of the console (key n).',
};
const PROBLEM: InLanguages<string> = { 'pt-BR': 'Não foi possível', en: 'This is not possible' };

/**
 * A part that was only looked at stays where it is, and is fetched again with the next change. What a form was refused stands in the
 * place of its result until the form is sent again: a change must not put the result of before there.
 */
const sendRefusedPart = (res: Response, status: number, body: View): void => {
  const id = /^[a-z]+#([\w-]+)$/.exec(String(res.req.headers['hx-target'] ?? ''))?.[1];
  const takesPlace = res.req.method === 'POST' && id !== undefined;
  res.setHeader('HX-Reswap', takesPlace ? 'outerHTML' : 'innerHTML');
  sendHtml(res, status, written(takesPlace ? html`<div id=${id}>${body}</div>` : body));
};

/** Every refusal and every failure, as a page or, for htmx, as its part. */
const answerProblem =
  ({ settings, logger, log, pages }: Parts) =>
  async (error: unknown, req: Request, res: Response, _next: NextFunction): Promise<void> => {
    const { session } = res.locals as Partial<Known>;
    const status = statusOf(error, session?.person);
    if (status >= 500) logger.error({ err: error, path: req.path }, 'a page of the console failed');
    if (res.headersSent) return void res.destroy();
    await log.refused(res, error, status);
    const language = session?.language ?? preferred(req.acceptsLanguages());
    const body: View = html`<p class="problem" role="alert">${textsOf(error, status)[language]}</p>`;
    if (req.headers['hx-request'] === 'true') return sendRefusedPart(res, status, body);
    const formToken = session?.formToken ?? '';
    const title = PROBLEM[language];
    const shown = { ...settings, language, formToken, title, body, page: undefined };
    const open = session ? pagesFor(session, { ...(pages && { pages }) }) : [];
    sendHtml(res, status, documentOf({ ...shown, pages: open }));
  };
