import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SignIn } from '../../application/desk/sign-in.ts';
import { ASSETS } from './assets.ts';
import { listenedAddress, publicAddress } from './address.ts';
import {
  clearCookie,
  cookieOf,
  entered,
  guardedForm,
  knownHost,
  limited,
  noSession,
  ownPath,
  secured,
  withSession,
} from './guards.ts';
import type { Known } from './guards.ts';
import { written } from './html.ts';
import { isLanguage, preferred } from './language.ts';
import type { InLanguages } from './language.ts';
import { documentOf } from './layout.ts';
import { Live, ownerOf } from './live.ts';
import { ConsoleProblem } from './page.ts';
import type { Answer, Page, Route, Visit } from './page.ts';
import { PAGES } from './pages/all.ts';
import { answerProblem, sendHtml } from './problems.ts';
import { receiveFile, receivedForm } from './received-file.ts';
import { sendFile } from './served-file.ts';
import type { App } from '../../application/app.ts';
import type { SessionKeeper, Sessions } from './session.ts';
import {
  endSignIn,
  finishSignIn,
  linkToSignIn,
  signedIn,
  startSignIn,
  toldSignedOut,
  withRole,
} from './sign-in.ts';

export interface ConsoleSettings {
  /** As it was given to `--host`. */
  readonly host: string;
  /** As people see it, where that is not where it listens: `https://desk.example`. */
  readonly publicUrl?: string;
  /** Who decides where nobody signs in. */
  readonly operator: string;
  readonly readOnly: boolean;
}

export interface ConsoleDependencies {
  readonly settings: ConsoleSettings;
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

const LARGEST_FORM = 1_048_576;
const MOST_AT_ONCE = 32;

/** The console as an Express application: what refuses a request comes first, in this order, and then the pages. */
export const createConsoleApp = (dependencies: ConsoleDependencies): ConsoleApp => {
  const { settings, service, logger, pages = PAGES, liveLookEveryMs } = dependencies;
  const live = new Live({
    changes: () => changesOf(service),
    onError: (error) => logger.warn({ err: error }, 'the console could not look for changes'),
    ...(liveLookEveryMs !== undefined && { lookEveryMs: liveLookEveryMs }),
  });
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  const { host, publicUrl } = settings;
  const address = publicUrl === undefined ? listenedAddress(host) : publicAddress(publicUrl);
  app.use(secured, knownHost(address), limited(MOST_AT_ONCE));
  app.get('/assets/:name', sendAsset);
  const sessions = addSessions(app, dependencies);
  app.get('/live', openLive(live, sessions));
  for (const page of pages) for (const route of page.routes) register(app, page, route, dependencies);
  app.use(noSuchPage);
  app.use(answerProblem({ settings, logger, pages, signsIn: dependencies.signIn !== undefined }));
  return { app, close: () => live.close() };
};

const noSuchPage: RequestHandler = () => {
  throw new ConsoleProblem(404, NO_SUCH_PAGE);
};

/** How a session begins, is found, speaks and ends. */
const addSessions = (app: Express, { signIn, sessions, realClock }: ConsoleDependencies): SessionKeeper => {
  const keeper = signIn ? signedIn(signIn) : sessions;
  if (signIn) {
    app.get('/enter', noSuchPage);
    app.get('/session/start', startSignIn(signIn, realClock));
    app.get('/session/callback', finishSignIn(signIn, realClock));
    app.get('/session/end', endSignIn(signIn));
    app.get('/session/ended', toldSignedOut);
    app.use(withSession(keeper, linkToSignIn));
  } else {
    app.get('/enter', entered(sessions));
    app.use(withSession(keeper, noSession));
    app.post('/session/end', readForm, guardedForm, endSession(sessions));
  }
  app.get('/session', tellSession);
  app.post('/session/language', readForm, guardedForm, chooseLanguage(keeper));
  app.use(withRole);
  return keeper;
};

/** Differs as soon as something was recorded or delivered; asked every few seconds while a page is open. */
const changesOf = async ({ maintenance, webhooks, audit }: App): Promise<string> =>
  JSON.stringify([await maintenance.places(), await webhooks.lag.read(), audit.background.progress]);

const readForm = express.text({ type: 'application/x-www-form-urlencoded', limit: LARGEST_FORM });

/** The one place where a route's kind decides what has to be true of a request. */
const register = (app: Express, page: Page, route: Route, dependencies: ConsoleDependencies): void => {
  const handle = serve(page, route, dependencies);
  switch (route.kind) {
    case 'view':
      return void app.get(route.path, handle);
    case 'query':
      return void app.post(route.path, readForm, guardedForm, handle);
    case 'upload':
      return void app.post(route.path, guardedForm, receiveFile(route.largest), handle);
    case 'action':
      return void app.post(route.path, readForm, guardedForm, writable(dependencies.settings), handle);
  }
};

const writable =
  ({ readOnly }: ConsoleSettings): RequestHandler =>
  (_req, _res, next) => {
    if (readOnly) throw new ConsoleProblem(403, ONLY_READING);
    next();
  };

const serve =
  (page: Page, route: Route, dependencies: ConsoleDependencies): RequestHandler =>
  async (req, res) => {
    const stop = new AbortController();
    res.once('close', () => stop.abort());
    const visit = visitOf(req, res, dependencies, stop.signal);
    const answer = await route.handle(visit, dependencies.service);
    if (route.kind === 'action') {
      const { operator } = visit;
      const { id } = (res.locals as Known).session;
      const fields = {
        ...visit.params,
        operator,
        ...(id !== undefined && { session: id }),
        action: route.path,
      };
      // Ids and codes alone: what was typed is not for the log.
      dependencies.logger.info(fields, 'an action of the console');
    }
    await send(res, answer, { page, visit, dependencies });
  };

const visitOf = (
  req: Request,
  res: Response,
  { settings, clock, realClock, logger }: ConsoleDependencies,
  signal: AbortSignal,
): Visit => {
  const { session } = res.locals as Known;
  return {
    language: session.language ?? preferred(req.acceptsLanguages()),
    operator: session.person?.name ?? settings.operator,
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
  };
};

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
      const { pages = PAGES } = dependencies;
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

const sendAsset: RequestHandler = (req, res) => {
  const file = ASSETS.get(req.params['name'] as string);
  if (file === undefined) throw new ConsoleProblem(404, NO_SUCH_PAGE);
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
    if (!live.open(res, goesOn, ownerOf(person))) throw new ConsoleProblem(503, TOO_MUCH);
  };

/** Asked by a form that is typed into, which goes on with the token of a session that was begun meanwhile. */
const tellSession: RequestHandler = (_req, res) => {
  res.type('text/plain').send((res.locals as Known).session.formToken);
};

const chooseLanguage =
  (sessions: SessionKeeper): RequestHandler =>
  async (req, res) => {
    const chosen = new URLSearchParams(String(req.body)).get('language');
    if (isLanguage(chosen)) await sessions.speak(cookieOf(req, res)!, chosen);
    res.redirect(303, backOf(req));
  };

/** The page that the form stood on, of this console alone. */
const backOf = (req: Request): string => {
  const from = URL.parse(req.headers.referer ?? '');
  return from?.host === req.headers.host ? ownPath(`${from!.pathname}${from!.search}`) : '/';
};

const endSession =
  (sessions: Sessions): RequestHandler =>
  (req, res) => {
    sessions.end(cookieOf(req, res)!);
    clearCookie(req, res);
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
