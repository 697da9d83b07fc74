import express from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { html, written } from './html.ts';
import { inLanguages } from './language.ts';
import { ownerOf } from './live.ts';
import { ConsoleProblem } from './page.ts';
import { equalSecrets } from './session.ts';
import type { Session, SessionKeeper, Sessions } from './session.ts';
import { isIPv4, isIPv6 } from 'node:net';

/** Of a sign-in that is under way, or of how files are written. */
type CookieKind = 'attempt' | 'csv' | undefined;

/** Where people find the console. */
export interface Address {
  readonly isNamedBy: (req: Request) => boolean;
  readonly originOf: (req: Request) => string;
  /** Of the session, or of what else a browser holds for a while. */
  readonly cookieName: (req: Request, kind?: CookieKind) => string;
  readonly cookieSettings: { readonly httpOnly: true; readonly path: '/'; readonly secure?: true };
}

const COOKIE = 'receivables_console';
const named = (kind: CookieKind): string => (kind === undefined ? COOKIE : `${COOKIE}_${kind}`);

const nameOf = (host: string): string =>
  host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();

/**
 * Where it listens, and every name of this machine. A page cannot take over an address, so the one that the connection came in on is
 * right as well. @param given as it was given to `--host`
 */
export const listenedAddress = (given: string): Address => ({
  isNamedBy: (req) => {
    const name = nameOf(req.headers.host ?? '');
    const local = (req.socket.localAddress ?? '').replace(/^::ffff:/, '');
    const loopback = name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
    const own = name === given.toLowerCase() && name !== '0.0.0.0' && name !== '::';
    return loopback || own || ((isIPv4(name) || isIPv6(name)) && name === local);
  },
  originOf: (req) => `http://${req.headers.host}`,
  // Consoles on other ports of this machine have cookies of the same host, so the port is part of the name.
  cookieName: (req, kind) => `${named(kind)}_${req.socket.localPort}`,
  cookieSettings: { httpOnly: true, path: '/' },
});

/** One address alone, whatever leads there. @param origin as browsers write it */
export const publicAddress = (origin: string): Address => {
  const { host, port, protocol } = new URL(origin);
  const isSecure = protocol === 'https:';
  return {
    isNamedBy: (req) => req.headers.host?.toLowerCase() === host,
    originOf: () => origin,
    // The prefix keeps other names of the same domain from giving the browser one of theirs.
    cookieName: (_req, kind) => (isSecure ? `__Host-${named(kind)}` : `${named(kind)}_${port || '80'}`),
    cookieSettings: { httpOnly: true, path: '/', ...(isSecure && { secure: true as const }) },
  };
};

const texts = inLanguages({
  otherHost: [
    'O console não atende por este nome. Abra o endereço que ele imprimiu no terminal.',
    'The console does not answer to this name. Open the address that it printed on the terminal.',
  ],
  busy: [
    'Há pedidos demais ao mesmo tempo. Tente de novo em instantes.',
    'Too many requests at once. Try again in a moment.',
  ],
  usedToken: [
    'Este endereço já foi usado ou é antigo demais. Peça outro no terminal do console (tecla n).',
    'This address was used already, or it is too old. Ask for another one on the terminal of the console (key n).',
  ],
  noSession: [
    'Não há sessão, ou ela terminou por falta de uso. Peça um novo endereço no terminal do console (tecla n) e abra-o neste navegador.',
    'There is no session, or it ended because it was not used. Ask for a new address on the terminal of the console (key n) and open it in this browser.',
  ],
  earlierForm: [
    'Este formulário é de uma sessão que terminou, e nada foi enviado. O que foi digitado continua nele; enviado agora, vale em seu nome.',
    'This form is of a session that is over, and nothing was sent. What was typed is still in it; sent now, it counts in your name.',
  ],
  notSent: [
    'Nada foi enviado. Entre em outra aba deste navegador e recarregue esta página: o que foi digitado pode ser enviado de lá.',
    'Nothing was sent. Come in in another tab of this browser and load this page again: what was typed can be sent from there.',
  ],
  foreignForm: [
    'Este formulário não veio de uma página deste console. Abra a página de novo e repita.',
    'This form did not come from a page of this console. Open the page again and repeat it.',
  ],
});

export interface Known {
  address: Address;
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

/** Refuses names that lead here without being meant: a page elsewhere may give its own name this address (DNS rebinding). */
export const knownHost =
  (address: Address): RequestHandler =>
  (req, res, next) => {
    (res.locals as Known).address = address;
    if (!address.isNamedBy(req)) throw new ConsoleProblem(421, () => texts.otherHost);
    next();
  };

/**
 * No more requests at once than this from each who is told apart; streams of changes are counted by themselves.
 * @param ownerIn undefined for a request that is not counted
 */
const limitedBy = (most: number, ownerIn: (res: Response) => string | undefined): RequestHandler => {
  const underWay = new Map<string, number>();
  return (req, res, next) => {
    const owner = ownerIn(res);
    if (owner === undefined || req.path === '/live') return next();
    const own = underWay.get(owner) ?? 0;
    if (own >= most) throw new ConsoleProblem(503, () => texts.busy);
    underWay.set(owner, own + 1);
    res.once('close', () => {
      const left = underWay.get(owner)! - 1;
      if (left > 0) underWay.set(owner, left);
      else underWay.delete(owner);
    });
    next();
  };
};

export const limited = (most: number): RequestHandler => limitedBy(most, () => '');

/** Nobody who is signed in takes all places: whoever holds so many leaves the others to the rest. */
export const limitedEach = (most: number): RequestHandler =>
  limitedBy(most, (res) => {
    const { person } = (res.locals as Known).session;
    return person && ownerOf(person);
  });

const addressOf = (res: Response): Address => (res.locals as Known).address;

/** What the browser holds under this name; default: its session. */
export const cookieOf = (req: Request, res: Response, kind?: 'attempt' | 'csv'): string | undefined => {
  const wanted = `${addressOf(res).cookieName(req, kind)}=`;
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length);
};

export const giveSession = (req: Request, res: Response, id: string): void => {
  const address = addressOf(res);
  res.cookie(address.cookieName(req), id, { ...address.cookieSettings, sameSite: 'strict' });
};

/** @param kind default: the session */
export const clearCookie = (req: Request, res: Response, kind?: 'attempt'): void => {
  const { cookieName, cookieSettings } = addressOf(res);
  const { path, secure } = cookieSettings;
  res.clearCookie(cookieName(req, kind), { path, ...(secure && { secure }) });
};

/** A redirect that a file or another site began takes no strict cookie along; a page of ours that goes on by itself does. */
export const goOnTo = (path: string): string =>
  `<!doctype html>${written(
    html`<html lang="pt-BR">
      <head>
        <meta http-equiv="refresh" content=${`0;url=${path}`} />
        <title>Console</title>
      </head>
      <body>
        <a href=${path}>Console</a>
      </body>
    </html>`,
  )}`;

/** Trades the token of the printed address for a session. @param begun told before the browser is */
export const entered =
  (sessions: Sessions, begun: (session: Session) => Promise<void>): RequestHandler =>
  async (req, res) => {
    const { token } = req.query;
    const id = typeof token === 'string' ? sessions.begin(token) : undefined;
    if (id === undefined) throw new ConsoleProblem(401, () => texts.usedToken);
    await begun(sessions.find(id, true)!);
    giveSession(req, res, id);
    const from = req.headers['sec-fetch-site'] ?? 'none';
    if (from === 'none' || from === 'same-origin') res.redirect(303, '/');
    else res.type('html').send(goOnTo('/'));
  };

/** @param missing answers who has none, or throws */
export const withSession =
  (sessions: SessionKeeper, missing: (req: Request, res: Response) => void): RequestHandler =>
  async (req, res, next) => {
    const id = cookieOf(req, res);
    const active = req.headers['x-unattended'] === undefined && req.path !== '/live';
    const session = id === undefined ? undefined : await sessions.find(id, active);
    if (session === undefined) return missing(req, res);
    (res.locals as Known).session = session;
    next();
  };

/** Behind what is said to who has no session; a browser without scripts holds what was posted, @see guardedForm */
export const notSent = ({ method, headers }: Request): string =>
  method === 'POST' && headers['hx-request'] === undefined ? ` ${texts.notSent}` : '';

export const noSession = (req: Request): never => {
  throw new ConsoleProblem(401, () => texts.noSession + notSent(req));
};

const LARGEST_FORM = 1_048_576;

export const readForm = express.text({ type: 'application/x-www-form-urlencoded', limit: LARGEST_FORM });

export const foreignForm = (): ConsoleProblem => new ConsoleProblem(403, () => texts.foreignForm);

/** A form is taken only from a page of this console: the browser says where it comes from, and the form knows the session's token. */
export const guardedForm: RequestHandler = (req, res, next) => {
  const { session, address } = res.locals as Known;
  const { origin, 'sec-fetch-site': site } = req.headers;
  const foreign =
    (site !== undefined && site !== 'same-origin') ||
    (origin !== undefined && origin !== address.originOf(req));
  const fields = typeof req.body === 'string' ? new URLSearchParams(req.body) : undefined;
  const token = req.headers['x-form-token'] ?? fields?.get('form_token');
  if (foreign || typeof token !== 'string') throw foreignForm();
  if (equalSecrets(session.formToken, token)) return next();
  // Only what the browser itself says comes from a page of ours; without scripts, a form cannot follow to the next session.
  if (!fields?.has('form_token') || (site ?? origin) === undefined) throw foreignForm();
  throw new ConsoleProblem(403, () => texts.earlierForm, { form: fields });
};

const HERE = new URL('http://console');

/** The address as browsers read it, when it is one of this console: in `//evil.example` they find the name of a host. */
export const ownPath = (address: string): string => {
  const read = URL.parse(address, HERE.href);
  if (read?.origin !== HERE.origin || read.pathname.startsWith('//')) return '/';
  return `${read.pathname}${read.search}${read.hash}`;
};
