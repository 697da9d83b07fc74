import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

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
