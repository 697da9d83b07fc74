import type { NextFunction, Request, Response } from 'express';
import { RoleError } from '../../application/desk/rights.ts';
import type { Person } from '../../application/desk/rights.ts';
import { UnknownFundError } from '../../application/desk-view/desk.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { BusyError } from '../../application/ports/busy-error.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { UnreadableEventError } from '../../application/event-codec/fields.ts';
import { OperationQuarantinedError, ReadModelBehindError } from '../../application/loans/read-loan.ts';
import { KeyMissingError } from '../../application/privacy/missing-keys.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../domain/shared/domain-error.ts';
import { messageOf } from '../../application/support/failures.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import { machineTrouble } from '../support/machine-trouble.ts';
import type { DeskLog } from './desk-log.ts';
import type { Known } from './guards.ts';
import { buttonForm } from './forms.ts';
import { html, written } from './html.ts';
import type { View } from './html.ts';
import { either, inLanguages, preferred, speakingIn } from './language.ts';
import { documentOf } from './layout.ts';
import { ConsoleProblem, pagesFor } from './page.ts';
import type { Page } from './page.ts';
import { texts as operation } from './pages/operation/texts.ts';
import { refusalText } from './refusals.ts';
import type { Session } from './session.ts';

const texts = inLanguages({
  failed: [
    'Isto não deu certo. Tente de novo; se continuar assim, o terminal do console diz o motivo.',
    'This did not work. Try again; if it stays like this, the terminal of the console says why.',
  ],
  unknownFund: ['Não há tal fundo. Escolha um da lista.', 'There is no such fund. Choose one of the list.'],
  tooLarge: [
    'O formulário é grande demais. Escolha menos operações de cada vez.',
    'The form is too large. Choose fewer operations at a time.',
  ],
  keyMissing: [
    'A chave dos dados do tomador desta operação foi perdida, e não há registro de que o tomador foi esquecido. Devolva a chave a partir de uma cópia de segurança; se nenhuma a tiver, desista dela com `receivables borrower forget --lost-key` (docs/operations.md, KeysMissing).',
    'The key of this operation’s borrower data is lost, and no record says that the borrower was forgotten. Put the key back from a backup; if none has it, give it up with `receivables borrower forget --lost-key` (docs/operations.md, KeysMissing).',
  ],
  unreadable: [
    'Um evento do que foi pedido não pode ser lido: ou uma versão mais nova o registrou, ou ele foi alterado. `receivables quarantine list` e `receivables audit verify` dizem qual é.',
    'An event of what was asked for cannot be read: either a newer version recorded it, or it was changed. `receivables quarantine list` and `receivables audit verify` say which.',
  ],
  sendAgain: ['Enviar nesta sessão', 'Send it in this session'],
  problem: ['Não foi possível', 'This is not possible'],
});

export const sendHtml = (res: Response, status: number, text: string): void => {
  res.status(status).type('text/html; charset=utf-8').send(text);
};

const NOT_FOUND: ReadonlySet<string> = new Set<DomainErrorCode>([
  ...(['loan_not_found', 'document_not_found', 'webhook_not_found', 'event_not_found'] as const),
]);

/** Roles are called as the provider is told to name them. */
const roleText = ({ roles, everywhere }: RoleError): string => {
  const [others, last] = [roles.slice(0, -1).join(', '), roles.at(-1)];
  if (last === undefined)
    return either(
      'Nenhum papel permite isto no console. Quem opera o serviço o faz na linha de comando.',
      'No role allows this at the console. Who operates the service does it on the command line.',
    );
  const any = (or: string): string => (others === '' ? last : `${others} ${or} ${last}`);
  return either(
    `O seu papel não permite isto. É preciso ser ${any('ou')} ${everywhere ? 'em todos os fundos' : 'neste fundo'}; peça a quem administra os acessos.`,
    `Your role does not allow this. It takes the role ${any('or')} in ${everywhere ? 'all funds' : 'this fund'}; ask whoever administers access.`,
  );
};

/** @param person for whom what cannot be seen is as if it were not there */
const statusOf = (error: unknown, person: Person | undefined): number => {
  if (error instanceof ConsoleProblem) return error.status;
  if (error instanceof RoleError) return 403;
  if (error instanceof UnknownFundError) return 404;
  if (error instanceof ReadModelBehindError) return 503;
  if (error instanceof DomainError) return person && NOT_FOUND.has(error.code) ? 404 : 422;
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
};

const textOf = (error: unknown, status: number): string => {
  if (error instanceof ConsoleProblem) return error.says();
  if (error instanceof RoleError) return roleText(error);
  if (error instanceof UnknownFundError) return texts.unknownFund;
  if (error instanceof KeyMissingError) return texts.keyMissing;
  if (error instanceof OperationQuarantinedError) return operation.quarantined;
  if (error instanceof UnreadableEventError) return texts.unreadable;
  if (error instanceof ReadModelBehindError) return operation.behind;
  if (error instanceof DomainError) return refusalText(error);
  return status === 413 ? texts.tooLarge : texts.failed;
};

interface Around {
  readonly operator: string;
  readonly readOnly: boolean;
  readonly pages: readonly Page[];
  readonly logger: Logger;
  readonly log: DeskLog;
}

/** @param at where it was asked for @param formToken of the session that goes on */
const bodyOf = (error: unknown, status: number, at: string, formToken: string): View => {
  const said = html`<p class="problem" role="alert">${textOf(error, status)}</p>`;
  const { link, form } = error instanceof ConsoleProblem ? error : {};
  const typed = form && [...form].filter(([name]) => name !== 'form_token');
  return [
    said,
    link && html`<p><a href=${link.to}>${link.says()}</a></p>`,
    typed && buttonForm({ formToken }, at, texts.sendAgain, typed),
  ];
};

const titleOf = (error: unknown): string =>
  (error instanceof ConsoleProblem && error.title?.()) || texts.problem;

/** A page with what its session has around it: without one there is nobody who could do anything. */
const pageAround = ({ operator, readOnly, pages }: Around, session: Session | undefined) => {
  const person = session?.person;
  const goesOn = session !== undefined && person?.grants.length !== 0;
  return {
    operator: session && (person?.name ?? operator),
    readOnly,
    person,
    page: undefined,
    formToken: session?.formToken ?? '',
    pages: goesOn ? pagesFor(session, pages) : [],
  };
};

/**
 * A part that was only looked at stays where it is, and is fetched again with the next change. What a form was refused stands in the
 * place of its result until the form is sent again: a change must not put the result of before there.
 */
const sendRefusedPart = (res: Response, status: number, body: View): void => {
  const id = /^[a-z]+#([\w-]+)$/.exec(String(res.req.headers['hx-target'] ?? ''))?.[1];
  const takesPlace = res.req.method === 'POST' && id !== undefined;
  res.setHeader('HX-Reswap', takesPlace ? 'outerHTML' : 'innerHTML');
  sendHtml(res, status, written(takesPlace ? html`<div id=${id}>${body}</div>` : body));
};

/** Why it failed, where the same may succeed later. */
const passing = (error: unknown): string | undefined => {
  if (error instanceof ConsoleProblem) return error.message;
  if (
    error instanceof StoreUnavailableError ||
    error instanceof BusyError ||
    error instanceof ReadModelBehindError
  )
    return error.name;
  return machineTrouble(error);
};

/** What keeps everybody from a page for a while is not a line for each who asks for one. */
const telling = (logger: Logger) => {
  const later = new LineAMinute((fields) => logger.warn(fields, 'pages of the console were refused for now'));
  return (error: unknown, path: string): void => {
    const kind = passing(error);
    if (kind === undefined) return logger.error({ err: error, path }, 'a page of the console failed');
    const { cause = error } = error as { readonly cause?: unknown };
    later.note(kind, { kind, reason: messageOf(cause) });
  };
};

export const answerProblem = (around: Around) => {
  const tell = telling(around.logger);
  return async (error: unknown, req: Request, res: Response, _next: NextFunction): Promise<void> => {
    const { session } = res.locals as Partial<Known>;
    const status = statusOf(error, session?.person);
    if (status >= 500) tell(error, req.path);
    if (res.headersSent) return void res.destroy();
    await around.log.refused(res, error, status);
    const language = session?.language ?? preferred(req.acceptsLanguages());
    const body = speakingIn(language, () => bodyOf(error, status, req.path, session?.formToken ?? ''));
    if (req.headers['hx-request'] === 'true') return sendRefusedPart(res, status, body);
    const title = speakingIn(language, () => titleOf(error));
    sendHtml(res, status, documentOf({ ...pageAround(around, session), language, title, body }));
  };
};
