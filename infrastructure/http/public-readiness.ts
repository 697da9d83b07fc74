import type { Logger } from '../../application/ports/logger.ts';
import type { Readiness } from './handlers/meta.ts';

/** By name, `ok` or what is wrong, which may name engines and their addresses. */
export type HealthChecks = Readonly<Record<string, string>>;

/** The checks as callers without a token may see them. What is wrong goes to the log, once for each change. */
export const publicReadiness = (
  look: () => Promise<HealthChecks>,
  logger: Logger,
): (() => Promise<Readiness>) => {
  let before = '';
  return async () => {
    const checks = Object.entries(await look());
    const failing = checks.filter(([, state]) => state !== 'ok');
    const names = failing.map(([name]) => name).join(' ');
    if (names !== before) {
      before = names;
      if (failing.length > 0) logger.warn({ checks: Object.fromEntries(failing) }, 'not ready');
      else logger.info({}, 'ready again');
    }
    const shown = checks.map(([name, state]) => [name, state === 'ok' ? 'ok' : 'failing'] as const);
    return { ready: failing.length === 0, checks: Object.fromEntries(shown) };
  };
};
