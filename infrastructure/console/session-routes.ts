import type { Express, Request, RequestHandler, Response } from 'express';
import { createHmac } from 'node:crypto';
import type { SignIn } from '../../application/desk/sign-in.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import { dialectOf } from './files.ts';
import type { DeskLog } from './desk-log.ts';
import {
  clearCookie,
  cookieOf,
  entered,
  guardedForm,
  limited,
  limitedEach,
  noSession,
  notSent,
  ownPath,
  readForm,
  withSession,
  foreignForm,
  giveSession,
  goOnTo,
} from './guards.ts';
import type { Known } from './guards.ts';
import { inLanguages, isLanguage } from './language.ts';
import { ownerText } from './live.ts';
import { ConsoleProblem, noSuchPage } from './page.ts';
import type { Session, SessionKeeper, Sessions } from './session.ts';
import { ProviderAwayError, ProviderRefusedError } from '../../application/desk/identity-provider.ts';
import type { Attempt } from '../../application/desk/identity-provider.ts';
import type { DeskSession } from '../../application/desk/sessions.ts';

const texts = inLanguages({
  ended: [
    'A sessão foi encerrada. Para entrar de novo, peça um novo endereço no terminal do console (tecla n).',
    'The session has ended. To come in again, ask for a new address on the terminal of the console (key n).',
  ],
  noSession: [
    'Você não entrou, ou a sua sessão terminou.',
    'You are not signed in, or your session has ended.',
  ],
  signedOut: ['A sua sessão neste console terminou.', 'Your session at this console has ended.'],
  refused: [
    'A entrada não valeu: demorou demais, foi usada uma segunda vez, não começou neste navegador, ou o provedor a recusou. O log do console diz o motivo.',
    'Signing in did not work: it took too long, was used a second time, did not begin in this browser, or the provider refused it. The log of the console says why.',
  ],
  away: [
    'O provedor que diz quem entra não responde. Tente de novo em instantes.',
    'The provider that says who may come in does not answer. Try again in a moment.',
  ],
  noRole: [
    'Você entrou, mas não tem nenhum papel neste console. Peça um a quem administra os acessos da sua empresa: viewer, maker, checker ou auditor. Depois saia e entre de novo.',
    'You are signed in, but you have no role at this console. Ask whoever administers the access of your company for one: viewer, maker, checker or auditor. Then sign out and in again.',
  ],
  signIn: ['Entrar', 'Sign in'],
  again: ['Entrar de novo', 'Sign in again'],
  signedOutTitle: ['Você saiu', 'Signed out'],
});

/** Requests at once. */
const MOST_OF_A_PERSON = 16;
/** They wait for the provider: while it hangs, the others are for those who have signed in. */
const MOST_SIGNING_IN = 16;

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
    app.use(['/session/start', '/session/callback'], limited(MOST_SIGNING_IN));
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

const START = '/session/start';
const ATTEMPT_MS = 10 * 60_000;
/** Browsers keep 4 KiB under a name. */
const LONGEST_PATH = 1_000;

/** Called with a session that began or ended, before the answer leaves. */
type Told = (session: Session) => Promise<void>;

const heldBy = (cookie: string, { id, person, language }: DeskSession): Session => ({
  ...{ id, person },
  formToken: createHmac('sha256', cookie).update('form').digest('base64url'),
  ...(isLanguage(language) && { language }),
});

/** Sessions of people who have signed in; the token of their forms follows from what the browser holds. */
const signedIn = (signIn: SignIn): SessionKeeper => ({
  find: async (cookie, active) => {
    const found = await signIn.find(cookie, active);
    if (found === undefined) return undefined;
    return heldBy(cookie, found);
  },
  speak: (cookie, language) => signIn.speak(cookie, language),
});

const startSignIn =
  (signIn: SignIn, clock: RealClock): RequestHandler =>
  async (req, res) => {
    const { address, attempt } = await toldWhenAway(() => signIn.start());
    const { to } = req.query;
    const path = typeof to === 'string' && to.length <= LONGEST_PATH ? ownPath(to) : '/';
    // A link of somebody else's must not end the session that it begins, or begin the next.
    const kept = { ...attempt, to: path.startsWith('/session/') ? '/' : path, at: clock.realNow() };
    const { cookieName, cookieSettings } = (res.locals as Known).address;
    res.cookie(cookieName(req, 'attempt'), Buffer.from(JSON.stringify(kept)).toString('base64url'), {
      ...cookieSettings,
      sameSite: 'lax',
      maxAge: ATTEMPT_MS,
    });
    res.redirect(303, address);
  };

/** What the browser was sent away with, unless that is too long ago. Whoever changes it changes only what is asked of himself. */
const attemptOf = (req: Request, res: Response, clock: RealClock): (Attempt & { to: string }) | undefined => {
  try {
    const text = Buffer.from(cookieOf(req, res, 'attempt') ?? '', 'base64url').toString();
    const { state, nonce, verifier, to, at } = JSON.parse(text) as Record<string, unknown>;
    // Another console may have begun it, whose clock is a little ahead.
    const age = Math.abs(Date.parse(clock.realNow()) - Date.parse(String(at)));
    if (!(age < ATTEMPT_MS)) return undefined;
    return { state: String(state), nonce: String(nonce), verifier: String(verifier), to: String(to) };
  } catch {
    return undefined;
  }
};

/** The browser has come back from the provider. It takes a strict cookie along only from a page of ours. */
const finishSignIn =
  (signIn: SignIn, clock: RealClock, begun: Told): RequestHandler =>
  async (req, res) => {
    const attempt = attemptOf(req, res, clock);
    const { search, searchParams } = new URL(req.originalUrl, 'http://console');
    // What another tab began since then may still come back.
    if (attempt?.state === searchParams.get('state')) clearCookie(req, res, 'attempt');
    try {
      const cookie = await toldWhenAway(() => signIn.finish(search, attempt));
      await begunOrEnded(signIn, cookie, begun);
      giveSession(req, res, cookie);
    } catch (error) {
      if (!(error instanceof ProviderRefusedError)) throw error;
      throw new ConsoleProblem(401, () => texts.refused, { link: { to: START, says: () => texts.again } });
    }
    res.type('html').send(goOnTo(ownPath(attempt!.to)));
  };

/** One of which the log cannot tell does not begin. */
const begunOrEnded = async (signIn: SignIn, cookie: string, begun: Told): Promise<void> => {
  try {
    await begun((await signedIn(signIn).find(cookie, true))!);
  } catch (error) {
    await signIn.end(cookie);
    throw error;
  }
};

/** A link, because forms that are redirected to another host are stopped; taken from pages of this console alone. */
const endSignIn =
  (signIn: SignIn, ended: Told): RequestHandler =>
  async (req, res) => {
    const site = req.headers['sec-fetch-site'] ?? 'none';
    if (site !== 'none' && site !== 'same-origin') throw foreignForm();
    const cookie = cookieOf(req, res);
    const over = cookie === undefined ? undefined : await signIn.end(cookie);
    clearCookie(req, res);
    if (over) await ended(heldBy(cookie!, over.session));
    res.redirect(303, over?.address ?? '/session/ended');
  };

const toldSignedOut: RequestHandler = () => {
  throw new ConsoleProblem(200, () => texts.signedOut, {
    title: () => texts.signedOutTitle,
    link: { to: START, says: () => texts.signIn },
  });
};

/** Who has no session is shown where one begins. A browser that another site sent may have one that it did not take along. */
const linkToSignIn = (req: Request, res: Response): void => {
  const site = req.headers['sec-fetch-site'] ?? 'none';
  const fromElsewhere = site !== 'none' && site !== 'same-origin';
  const path = ownPath(req.originalUrl);
  if (req.method === 'GET' && fromElsewhere && req.headers['sec-fetch-mode'] === 'navigate')
    return void res.type('html').send(goOnTo(path));
  const isPage = req.method === 'GET' && req.headers['hx-request'] === undefined;
  const to = isPage && path !== '/' ? `${START}?to=${encodeURIComponent(path)}` : START;
  throw new ConsoleProblem(401, () => texts.noSession + notSent(req), {
    link: { to, says: () => texts.signIn },
  });
};

const withRole: RequestHandler = (_req, res, next) => {
  const { session } = res.locals as Known;
  if (session.person?.grants.length === 0) throw new ConsoleProblem(403, () => texts.noRole);
  next();
};

const toldWhenAway = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProviderAwayError)) throw error;
    throw new ConsoleProblem(503, () => texts.away, {
      link: { to: START, says: () => texts.again },
      cause: error,
    });
  }
};
