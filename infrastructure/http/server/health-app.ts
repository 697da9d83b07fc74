import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '../../../application/ports/logger.ts';
import { HttpProblem, unavailable } from '../errors/http-problem.ts';
import { headersOfTheLast } from '../security-headers.ts';

export interface Readiness {
  readonly ready: boolean;
  /** What was looked at. Callers without a token see it, so details of a failure are for the log. */
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
}

const RETRY_AFTER_S = 1;

/** What is answered to whoever asks for it; a refusal names what fails. */
export const readinessAnswer = ({ ready, checks }: Readiness): HttpProblem | object => {
  if (ready) return { status: 'ok', checks };
  const states = Object.entries(checks).map(([name, state]) => `${name}: ${state}`);
  return unavailable(`not ready: ${states.join('; ')}`, RETRY_AFTER_S);
};

interface HealthDependencies {
  readonly readiness: () => Promise<Readiness>;
  readonly otherwise: () => HttpProblem;
}

const send = (
  res: ServerResponse,
  status: number,
  { requestId, json, headers }: { requestId: string; json: object; headers?: readonly string[] },
): void => {
  const body = JSON.stringify(json);
  res.writeHead(status, [...headersOfTheLast(body, requestId, headers)]).end(body);
};

const answer = async (
  path: string | undefined,
  { readiness, otherwise }: HealthDependencies,
): Promise<object> => {
  if (path === '/health/live') return { status: 'ok' };
  return path === '/health/ready' ? readinessAnswer(await readiness()) : otherwise();
};

/** Health checks alone, for a process that does not serve the interface, or not yet. */
export const healthApp =
  (dependencies: HealthDependencies): RequestListener =>
  (req, res) => {
    const requestId = randomUUID();
    const path = req.method === 'GET' || req.method === 'HEAD' ? req.url?.split('?')[0] : undefined;
    answer(path, dependencies)
      .catch(() => unavailable('the state is not known', RETRY_AFTER_S))
      .then((result) => {
        if (result instanceof HttpProblem) {
          send(res, result.status, { requestId, json: result.body(requestId), headers: result.headers });
        } else send(res, 200, { requestId, json: result });
      })
      .catch(() => res.destroy());
  };

/** By name: `ok`, or what is wrong, which may contain addresses of engines. */
export type HealthChecks = Readonly<Record<string, string>>;

/** The checks as callers without a token may see them. Details of a failure go to the log, once for each change. */
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
