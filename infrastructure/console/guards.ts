import { isIPv4, isIPv6 } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { html, written } from './html.ts';
import type { InLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';
import { equalSecrets } from './session.ts';
import type { Session, Sessions } from './session.ts';

/** What the middlewares found out. */
export interface Known {
  session: Session;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** What a browser has to keep to. Nothing is kept, nothing runs that is not ours, no other page may frame or read an answer. */
export const secured: RequestHandler = (_req, res, next) => {
  res.setHeaders(
    new Map([
      ['Content-Security-Policy', POLICY],
      ['Cache-Control', 'no-store'],
      ['Cross-Origin-Opener-Policy', 'same-origin'],
      ['Cross-Origin-Resource-Policy', 'same-origin'],
      ['Permissions-Policy', 'camera=(), geolocation=(), microphone=()'],
      // With no referrer at all, browsers would not name the origin of a form either.
      ['Referrer-Policy', 'same-origin'],
      ['X-Content-Type-Options', 'nosniff'],
    ]),
  );
  next();
};

const nameOf = (host: string): string =>
  host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();

/**
 * Refuses names that lead here without being meant: a page elsewhere may give its own name this address (DNS rebinding). Another
 * page cannot take over an address, so the one that the connection came in on is right.
 */
export const knownHost =
  (given: string): RequestHandler =>
  (req, _res, next) => {
    const name = nameOf(req.headers.host ?? '');
    const local = (req.socket.localAddress ?? '').replace(/^::ffff:/, '');
    const loopback = name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
    const own = name === given.toLowerCase() && name !== '0.0.0.0' && name !== '::';
    if (!loopback && !own && !((isIPv4(name) || isIPv6(name)) && name === local))
      throw new ConsoleProblem(421, OTHER_HOST);
    next();
  };

/** No more requests at once than this; streams of changes are counted by themselves. */
export const limited = (most: number): RequestHandler => {
  let underWay = 0;
  return (req, res, next) => {
    if (req.path === '/live') return next();
    if (underWay >= most) throw new ConsoleProblem(503, BUSY);
    underWay += 1;
    res.once('close', () => (underWay -= 1));
    next();
  };
};

const COOKIE = 'receivables_console';

/** Consoles on other ports of this machine have cookies of the same host, so the port is part of the name. */
export const cookieName = (req: Request): string => `${COOKIE}_${req.socket.localPort}`;

/** The session that the browser names. */
export const cookieOf = (req: Request): string | undefined => {
  const wanted = `${cookieName(req)}=`;
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length);
};

const GO_ON = `<!doctype html>${written(
  html`<html lang="pt-BR">
    <head>
      <meta http-equiv="refresh" content="0;url=/" />
      <title>Console</title>
    </head>
    <body>
      <a href="/">Console</a>
    </body>
  </html>`,
)}`;

/** Trades the token of the printed address for a session. @param begun told before the browser is */
export const entered =
  (sessions: Sessions, begun: (session: Session) => Promise<void>): RequestHandler =>
  async (req, res) => {
    const { token } = req.query;
    const id = typeof token === 'string' ? sessions.begin(token) : undefined;
    if (id === undefined) throw new ConsoleProblem(401, USED_TOKEN);
    await begun(sessions.find(id, true)!);
    res.cookie(cookieName(req), id, { httpOnly: true, sameSite: 'strict', path: '/' });
    const from = req.headers['sec-fetch-site'] ?? 'none';
    // A redirect that a file or another site began takes no strict cookie along; a page of ours that goes on by itself does.
    if (from === 'none' || from === 'same-origin') res.redirect(303, '/');
    else res.type('html').send(GO_ON);
  };

export const withSession =
  (sessions: Sessions): RequestHandler =>
  (req, res, next) => {
    const id = cookieOf(req);
    const active = req.headers['x-unattended'] === undefined && req.path !== '/live';
    const session = id === undefined ? undefined : sessions.find(id, active);
    if (session === undefined) throw new ConsoleProblem(401, NO_SESSION);
    (res.locals as Known).session = session;
    next();
  };

/** A form is taken only from a page of this console: the browser says where it comes from, and the form knows the session's token. */
export const guardedForm: RequestHandler = (req, res, next) => {
  const { session } = res.locals as Known;
  const { origin, 'sec-fetch-site': site } = req.headers;
  const foreign =
    (site !== undefined && site !== 'same-origin') ||
    (origin !== undefined && origin !== `http://${req.headers.host}`);
  const token =
    req.headers['x-form-token'] ??
    (typeof req.body === 'string' ? new URLSearchParams(req.body).get('form_token') : undefined);
  if (foreign || typeof token !== 'string' || !equalSecrets(session.formToken, token))
    throw new ConsoleProblem(403, FOREIGN_FORM);
  next();
};

const HERE = new URL('http://console');

/** The address as browsers read it, when it is one of this console: in `//evil.example` they find the name of a host. */
export const ownPath = (address: string): string => {
  const read = URL.parse(address, HERE.href);
  if (read?.origin !== HERE.origin || read.pathname.startsWith('//')) return '/';
  return `${read.pathname}${read.search}${read.hash}`;
};

const OTHER_HOST: InLanguages<string> = {
  'pt-BR': 'O console não atende por este nome. Abra o endereço que ele imprimiu no terminal.',
  en: 'The console does not answer to this name. Open the address that it printed on the terminal.',
};
const BUSY: InLanguages<string> = {
  'pt-BR': 'Há pedidos demais ao mesmo tempo. Tente de novo em instantes.',
  en: 'Too many requests at once. Try again in a moment.',
};
const USED_TOKEN: InLanguages<string> = {
  'pt-BR': 'Este endereço já foi usado ou é antigo demais. Peça outro no terminal do console (tecla n).',
  en: 'This address was used already, or it is too old. Ask for another one on the terminal of the console (key n).',
};
const NO_SESSION: InLanguages<string> = {
  'pt-BR':
    'Não há sessão, ou ela terminou por falta de uso. Peça um novo endereço no terminal do console (tecla n) e abra-o neste navegador.',
  en: 'There is no session, or it ended because it was not used. Ask for a new address on the terminal of the console (key n) and open it in this browser.',
};
const FOREIGN_FORM: InLanguages<string> = {
  'pt-BR': 'Este formulário não veio de uma página deste console. Abra a página de novo e repita.',
  en: 'This form did not come from a page of this console. Open the page again and repeat it.',
};
