import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SignIn } from '../../application/desk/sign-in.ts';
import {
  listenedAddress,
  publicAddress,
  cookieOf,
  guardedForm,
  knownHost,
  limited,
  ownPath,
  readForm,
  secured,
} from './guards.ts';
import type { Known } from './guards.ts';
import { dialectOf, receiveFile, receivedForm, sendFile } from './files.ts';
import { DeskLog, askedOf } from './desk-log.ts';
import { written } from './html.ts';
import { inLanguages, preferred, speakingIn } from './language.ts';
import { documentOf } from './layout.ts';
import { Live, ownerOf } from './live.ts';
import { ConsoleProblem, noSuchPage, pagesFor } from './page.ts';
import type { Answer, Page, Route, Visit } from './page.ts';
import type { Rows } from '../presenting/columns.ts';
import { PAGES } from './pages/all.ts';
import { queryOf } from './paths.ts';
import { answerProblem, sendHtml } from './problems.ts';
import type { App } from '../../application/app.ts';
import { deskOf } from '../../application/desk-view/desk-of.ts';
import { RoleError, may } from '../../application/desk/rights.ts';
import type { Session, SessionKeeper, Sessions } from './session.ts';
import { addSessions } from './session-routes.ts';

const { resolve } = createRequire(import.meta.url);
const own = (file: string): string => join(import.meta.dirname, 'assets', file);

/** Everything that a page loads, by its name: from the installed packages, or from `assets/`. Nothing comes from another host. */
const ASSETS: ReadonlyMap<string, string> = new Map([
  ['pico.css', resolve('@picocss/pico/css/pico.min.css')],
  ['console.css', own('console.css')],
  ['parts.css', own('parts.css')],
  ['htmx.js', resolve('htmx.org/dist/htmx.min.js')],
  ['hx-sse.js', resolve('htmx.org/dist/ext/hx-sse.min.js')],
  // Its package hands on no path of it, but one beside it.
  ['chart.js', join(resolve('chart.js'), '..', 'chart.umd.min.js')],
  ['pictures.js', own('pictures.js')],
  ['console.js', own('console.js')],
]);

const texts = inLanguages({
  onlyReading: [
    'Este console foi aberto com --read-only: nada pode ser alterado nele. Peça a decisão a quem opera o fundo.',
    'This console was opened with --read-only: nothing can be changed here. Ask an operator of the fund to decide.',
  ],
  tooMuch: [
    'Há páginas demais abertas. Feche algumas e tente de novo.',
    'Too many pages are open. Close some and try again.',
  ],
});

interface ConsoleDependencies {
  readonly host: string;
  /** As people see it, where that is not where it listens: `https://desk.example`. */
  readonly publicUrl?: string;
  /** Who decides where nobody signs in. */
  readonly operator: string;
  readonly readOnly: boolean;
  readonly service: App;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  readonly sessions: Sessions;
  /** Left out where whoever has the printed address may come in. */
  readonly signIn?: SignIn;
  readonly logger: Logger;
  readonly pages?: readonly Page[];
  readonly liveLookEveryMs?: number;
}

interface ConsoleApp {
  readonly app: Express;
  /** Ends the streams of open pages, which would not end by themselves. */
  close(): void;
}

const MOST_AT_ONCE = 32;

/** The console as an Express application: what refuses a request comes first, in this order, and then the pages. */
export const createConsoleApp = (dependencies: ConsoleDependencies): ConsoleApp => {
  const { host, publicUrl, operator, readOnly } = dependencies;
  const { service, logger, pages = PAGES, liveLookEveryMs } = dependencies;
  const live = new Live({
    changes: () => changesOf(service),
    onError: (error) => logger.warn({ err: error }, 'the console could not look for changes'),
    ...(liveLookEveryMs !== undefined && { lookEveryMs: liveLookEveryMs }),
  });
  const log = new DeskLog(() => service.desk, operator, logger);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  const address = publicUrl === undefined ? listenedAddress(host) : publicAddress(publicUrl);
  app.use(secured, knownHost(address), limited(MOST_AT_ONCE));
  app.get('/assets/:name', sendAsset);
  // Browsers ask for it by themselves beside a file, or a page that goes on: nobody's wish, and no line of the desk log.
  app.get('/favicon.ico', (_req, res) => void res.sendStatus(204));
  const signing = addSessions(app, { ...dependencies, log });
  app.get('/live', openLive(live, signing.keeper));
  for (const page of pages)
    for (const route of page.routes) register(app, page, route, { ...dependencies, pages, log, ...signing });
  app.use(() => {
    throw noSuchPage();
  });
  app.use(answerProblem({ operator, readOnly, logger, log, pages }));
  return { app, close: () => live.close() };
};

type Parts = ConsoleDependencies & {
  readonly pages: readonly Page[];
  readonly log: DeskLog;
} & ReturnType<typeof addSessions>;

/** Differs as soon as something was recorded or delivered; asked every few seconds while a page is open. */
const changesOf = async ({ maintenance, webhooks, audit }: App): Promise<string> =>
  JSON.stringify([await maintenance.places(), await webhooks.lag.read(), audit.background.progress]);

const register = (app: Express, page: Page, route: Route, dependencies: Parts): void => {
  const asked = askedOf(route);
  // Again once a form has come: it may have been on its way for long.
  const { found } = dependencies;
  const handle = serve(page, route, dependencies);
  if (route.kind === 'view') return void app.get(route.path, asked, handle);
  const form =
    route.kind === 'upload'
      ? [guardedForm, receiveFile(route.largest), found]
      : [readForm, found, guardedForm];
  // The address of a form that was refused, loaded again or in the other language.
  app.get(route.path, (_req, res) => res.redirect(303, page.path));
  const allowed = route.kind === 'action' ? [writable(dependencies)] : [];
  app.post(route.path, asked, ...form, ...allowed, handle);
};

const writable =
  ({ readOnly }: Parts): RequestHandler =>
  (_req, _res, next) => {
    if (readOnly) throw new ConsoleProblem(403, () => texts.onlyReading);
    next();
  };

const serve =
  (page: Page, route: Route, dependencies: Parts): RequestHandler =>
  async (req, res) => {
    const stop = new AbortController();
    res.once('close', () => stop.abort());
    const visit = { page, ...visitOf(req, res, dependencies, stop.signal) };
    const { needs = 'see' } = page;
    if (!may(visit, needs)) throw new RoleError(needs);
    const desk = deskOf(dependencies.service, visit.person);
    const answer = await speakingIn(visit.language, () => route.handle(visit, desk));
    if (route.kind === 'action') {
      const { operator } = visit;
      const { id: session } = (res.locals as Known).session;
      const fields = { ...visit.params, operator, session, action: route.path };
      // Ids and codes alone: what was typed is not for the log.
      dependencies.logger.info(fields, 'an action of the console');
    }
    try {
      await dependencies.log.answered(req, res, answer);
    } catch (error) {
      if (answer.kind === 'file') await leave(answer.content);
      throw error;
    }
    if (answer.kind === 'file')
      await sendFile(res, answer, dependencies.realClock, stillMay(req, res, dependencies.keeper));
    else send(res, answer, visit, dependencies.pages);
  };

const stillMay = (req: Request, res: Response, sessions: SessionKeeper): (() => Promise<boolean>) => {
  const grantsOf = (session: Session): string => JSON.stringify(session.person?.grants);
  const [cookie, grants] = [cookieOf(req, res)!, grantsOf((res.locals as Known).session)];
  return async () => {
    const now = await sessions.find(cookie, false);
    return now !== undefined && grantsOf(now) === grants;
  };
};

const leave = async (content: Rows<string | Uint8Array>): Promise<void> => {
  if (Symbol.asyncIterator in content) await content[Symbol.asyncIterator]().return?.();
};

const visitOf = (
  req: Request,
  res: Response,
  { operator, readOnly, clock, realClock, logger, log }: Parts,
  signal: AbortSignal,
): Omit<Visit, 'page'> => {
  const { session } = res.locals as Known;
  return {
    language: session.language ?? preferred(req.acceptsLanguages()),
    operator: session.person?.name ?? operator,
    readOnly,
    csv: dialectOf(cookieOf(req, res, 'csv')),
    path: req.path,
    formToken: session.formToken,
    ...(session.person && { person: session.person }),
    params: req.params as Readonly<Record<string, string>>,
    query: queryOf(req.originalUrl),
    ...(req.files
      ? receivedForm(req)
      : { fields: new URLSearchParams((req.body as string | undefined) ?? '') }),
    ...{ clock, realClock, logger, signal },
    record: (entries) => log.record(session, entries),
  };
};

const send = (
  res: Response,
  answer: Exclude<Answer, { kind: 'file' }>,
  visit: Visit,
  all: readonly Page[],
): void => {
  switch (answer.kind) {
    case 'page': {
      const { of: page = visit.page } = answer;
      const title = answer.title ?? speakingIn(visit.language, page.title);
      const pages = pagesFor(visit, all);
      sendHtml(res, answer.status ?? 200, documentOf({ ...visit, title, body: answer.body, page, pages }));
      return;
    }
    case 'part':
      sendHtml(res, answer.status ?? 200, written(answer.body));
      return;
    case 'redirect':
      sendOn(res, ownPath(answer.to));
  }
};

/** What htmx asked for would be put into the page that is open: it is told to leave that one. */
const sendOn = (res: Response, to: string): void => {
  if (res.req.headers['hx-request'] === 'true') res.setHeader('HX-Redirect', to).sendStatus(204);
  else res.redirect(303, to);
};

const sendAsset: RequestHandler = (req, res) => {
  const file = ASSETS.get(req.params['name'] as string);
  if (file === undefined) throw noSuchPage();
  res.setHeader('Cache-Control', 'private, max-age=3600');
  res.sendFile(file, { cacheControl: false, dotfiles: 'allow' });
};

const openLive =
  (live: Live, sessions: SessionKeeper): RequestHandler =>
  (req, res) => {
    const id = cookieOf(req, res)!;
    const goesOn = async (): Promise<boolean> => {
      const session = await sessions.find(id, false);
      return session !== undefined && session.person?.grants.length !== 0;
    };
    const { person } = (res.locals as Known).session;
    if (!live.open(res, goesOn, ownerOf(person))) throw new ConsoleProblem(503, () => texts.tooMuch);
  };
