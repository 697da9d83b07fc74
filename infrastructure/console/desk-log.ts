import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import type { Desk } from '../../application/desk/desk.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import type { DeskEntry } from '../../domain/desk/line.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import type { Known } from './guards.ts';
import { inLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';
import type { Answer, Route } from './page.ts';
import { queryOf } from './paths.ts';
import type { Session } from './session.ts';

const texts = inLanguages({
  notWritten: [
    'O registro de acessos não pode ser escrito agora, e nada é mostrado sem ele. O que já foi decidido vale. Tente de novo em instantes.',
    'The desk log cannot be written now, and nothing is shown without it. What was decided already stands. Try again in a moment.',
  ],
});

interface Asked {
  readonly kind: Route['kind'];
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Pages that are left open fetch the same again and again. */
const MOST_REMEMBERED = 10_000;

const notWritten = (): string => texts.notWritten;

const REASONS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'gone',
  413: 'payload_too_large',
  422: 'validation_error',
  503: 'busy',
};

/** Before everything that may refuse the request of a route, so that the refusal can say what it was about. */
export const askedOf =
  ({ kind }: Route): RequestHandler =>
  (req, res, next) => {
    const [params, query] = [req.params as Asked['params'], queryOf(req.originalUrl)];
    (res.locals as { asked?: Asked }).asked = { kind, params, query };
    next();
  };

const about = ({ params, query }: Asked): Omit<DeskEntry, 'action'> => {
  const { application, code, document } = params;
  const fundId = query.get('fund');
  return {
    ...(application !== undefined && { applicationId: application }),
    ...(code !== undefined && { code }),
    ...(document !== undefined && { documentId: document }),
    ...(fundId !== null && { fundId }),
  };
};

const actionOf = ({ kind, params }: Asked, answer: Answer | undefined): DeskEntry['action'] => {
  if (answer?.kind === 'file') return params['document'] === undefined ? 'exported' : 'downloaded';
  if (kind === 'action') return 'configured';
  return kind === 'query' && answer?.kind === 'redirect' ? 'searched' : 'viewed';
};

/** That so much was listed. @param fundId that of the list, if it is of one */
export const listing = (
  count: number,
  fundId?: string,
  more: Pick<DeskEntry, 'decision' | 'sum'> = {},
): readonly DeskEntry[] => [{ action: 'listed', count, ...(fundId && { fundId }), ...more }];

/** The lines of the console's sessions: who sees an answer stands in the log before it leaves. */
export class DeskLog {
  readonly #desk: () => Pick<Desk, 'record'>;
  readonly #operator: string;
  readonly #unwritten: LineAMinute;
  readonly #fetchedAgain = new LRUCache<string, true>({ max: MOST_REMEMBERED });

  /** @param operator whom a session without a person stands for */
  constructor(desk: () => Pick<Desk, 'record'>, operator: string, logger: Pick<Logger, 'warn'>) {
    this.#desk = desk;
    this.#operator = operator;
    this.#unwritten = new LineAMinute((fields) => logger.warn(fields, 'the desk log could not be written'));
  }

  /** @throws ConsoleProblem it cannot be written now */
  async record({ id, person }: Session, entries: readonly DeskEntry[]): Promise<void> {
    const { issuer, subject, name = this.#operator } = person ?? {};
    const who = { way: 'console', name, ...(issuer && subject && { issuer, subject }) } as const;
    try {
      await this.#desk().record(who, entries, id);
    } catch (error) {
      this.#unwritten.note('unwritten', { error: messageOf(error) });
      throw new ConsoleProblem(503, notWritten, { cause: error });
    }
  }

  /** @throws ConsoleProblem it cannot be written now, so the answer must not leave */
  async answered(req: Request, res: Response, answer: Answer): Promise<void> {
    const { session, asked } = res.locals as Known & { readonly asked: Asked };
    const entries = answer.logged ?? [{ ...about(asked), action: actionOf(asked, answer) }];
    // Pages fetch themselves and their parts; a file or a form that claims to be that was asked for by somebody.
    const mayFollow = req.method === 'GET' && (answer.kind === 'page' || answer.kind === 'part');
    const unattended = mayFollow && req.headers['x-unattended'] !== undefined;
    const { id, person } = session;
    // Under other roles the same page shows something else, and a list of as many may be one of others.
    const same = hash('sha256', JSON.stringify([id, person?.grants, req.originalUrl, entries, answer.shows]));
    if (unattended && this.#fetchedAgain.has(same)) return;
    await this.record(session, entries);
    if (mayFollow) this.#fetchedAgain.set(same, true);
  }

  /** A problem shows nothing of what was asked for, so it is answered even where it cannot be written. Without a session it is no line. */
  async refused(res: Response, error: unknown, status: number): Promise<void> {
    const { session, asked } = res.locals as Partial<Known> & { readonly asked?: Asked };
    if (session === undefined || (error instanceof ConsoleProblem && error.says === notWritten)) return;
    const names = asked ? about(asked) : {};
    const failed = status >= 500 && status !== 503;
    const reason = error instanceof DomainError ? error.code : REASONS[status];
    const entry: DeskEntry = failed
      ? { ...names, action: asked ? actionOf(asked, undefined) : 'viewed', outcome: 'failed' }
      : { ...names, action: 'refused', outcome: 'refused', ...(reason && { reason }) };
    await this.record(session, [entry]).catch(() => undefined);
  }
}
