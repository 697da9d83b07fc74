import type { Express, Request, RequestHandler } from 'express';
import type { SignIn } from '../../application/desk/sign-in.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import { dialectOf } from './files.ts';
import type { DeskLog } from './desk-log.ts';
import {
  clearCookie,
  cookieOf,
  entered,
  guardedForm,
  limitedEach,
  noSession,
  ownPath,
  readForm,
  withSession,
} from './guards.ts';
import type { Known } from './guards.ts';
import { inLanguages, isLanguage } from './language.ts';
import { ownerText } from './live.ts';
import { ConsoleProblem, noSuchPage } from './page.ts';
import type { Session, SessionKeeper, Sessions } from './session.ts';
import {
  endSignIn,
  finishSignIn,
  linkToSignIn,
  signedIn,
  startSignIn,
  toldSignedOut,
  withRole,
} from './sign-in.ts';

const texts = inLanguages({
  ended: [
    'A sessão foi encerrada. Para entrar de novo, peça um novo endereço no terminal do console (tecla n).',
    'The session has ended. To come in again, ask for a new address on the terminal of the console (key n).',
  ],
});

/** Requests at once. */
const MOST_OF_A_PERSON = 16;

interface Parts {
  readonly sessions: Sessions;
  readonly signIn?: SignIn;
  readonly realClock: RealClock;
  readonly log: DeskLog;
}

export const addSessions = (app: Express, { signIn, sessions, realClock, log }: Parts) => {
  const keeper: SessionKeeper = signIn ? signedIn(signIn) : sessions;
  const found = withSession(keeper, signIn ? linkToSignIn : noSession);
  const begun = (session: Session): Promise<void> => log.record(session, [{ action: 'signed_in' }]);
  const ended = (session: Session): Promise<void> => log.record(session, [{ action: 'signed_out' }]);
  if (signIn) {
    app.get('/enter', () => {
      throw noSuchPage();
    });
    app.get('/session/start', startSignIn(signIn, realClock));
    app.get('/session/callback', finishSignIn(signIn, realClock, begun));
    app.get('/session/end', endSignIn(signIn, ended));
    app.get('/session/ended', toldSignedOut);
    app.use(found, limitedEach(MOST_OF_A_PERSON));
  } else {
    app.get('/enter', entered(sessions, begun));
    app.use(found);
    app.post('/session/end', readForm, guardedForm, endSession(sessions, ended));
  }
  app.get('/session', tellSession);
  app.post('/session/language', readForm, guardedForm, chooseLanguage(keeper));
  app.post('/session/csv', readForm, guardedForm, chooseCsv);
  app.use(withRole);
  return { keeper, found };
};

/** Asked by a form that is typed into, which goes on with the token of a session that the same person has begun meanwhile. */
const tellSession: RequestHandler = (_req, res) => {
  const { formToken, person } = (res.locals as Known).session;
  res.setHeader('X-Owner', ownerText(person)).type('text/plain').send(formToken);
};

const chooseLanguage =
  (sessions: SessionKeeper): RequestHandler =>
  async (req, res) => {
    const chosen = new URLSearchParams(String(req.body)).get('language');
    if (isLanguage(chosen)) await sessions.speak(cookieOf(req, res)!, chosen);
    res.redirect(303, backOf(req));
  };

/** For as long as a browser keeps it: who opens files in one spreadsheet does so tomorrow. */
const REMEMBERED_MS = 365 * 24 * 3_600_000;

const chooseCsv: RequestHandler = (req, res) => {
  const { address } = res.locals as Known;
  const chosen = dialectOf(new URLSearchParams(String(req.body)).get('csv'));
  res.cookie(address.cookieName(req, 'csv'), chosen, {
    ...address.cookieSettings,
    sameSite: 'strict',
    maxAge: REMEMBERED_MS,
  });
  res.redirect(303, backOf(req));
};

/** The page that the form stood on, of this console alone. */
const backOf = (req: Request): string => {
  const from = URL.parse(req.headers.referer ?? '');
  return from?.host === req.headers.host ? ownPath(`${from!.pathname}${from!.search}`) : '/';
};

const endSession =
  (sessions: Sessions, ended: (session: Session) => Promise<void>): RequestHandler =>
  async (req, res) => {
    sessions.end(cookieOf(req, res)!);
    clearCookie(req, res);
    await ended((res.locals as Known).session);
    delete (res.locals as Partial<Known>).session;
    throw new ConsoleProblem(401, () => texts.ended);
  };
