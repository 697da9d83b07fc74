import { either } from './language.ts';
import type { Both } from './language.ts';
import type { DomainErrorCode } from '../../domain/shared/domain-error.ts';

/** As three rules say it; `tests/infrastructure/console/refusals.test.ts` asks the rules themselves. To the others no page leads: forms check what is typed themselves. */
const RULES: readonly (readonly [said: RegExp, says: (...found: readonly string[]) => Both])[] = [
  [
    /^(\d+) applications have an operation (\S+): name one of/,
    (many, code) => [
      `${many} aplicações têm uma operação ${code}: escolha a aplicação.`,
      `${many} applications have an operation ${code}: choose the application.`,
    ],
  ],
  [
    /^webhook \S+ is paused: resume it first$/,
    () => [
      'O webhook está pausado: sua aplicação precisa retomá-lo antes de qualquer envio.',
      'The webhook is paused: its application has to resume it before anything is sent.',
    ],
  ],
  [
    /^cursor is not one of this list;/,
    () => [
      'O endereço desta página está errado. Volte à lista.',
      'The address of this page is wrong. Go back to the list.',
    ],
  ],
];

type Code = DomainErrorCode | 'operation_unreadable';

/** The rules say in English what they refuse, as the interface does; this is what those that pages lead to mean to who reads Portuguese. */
const IN_PORTUGUESE: Readonly<Partial<Record<Code, string>>> = {
  loan_not_found: 'Não há operação com este código nesta aplicação.',
  operation_invalid_state:
    'A situação atual da operação não permite isto. Abra a operação e veja o que houve com ela.',
  invalid_date: 'A data não é aceita.',
  validation_error: 'Um campo não foi aceito.',
  idempotency_conflict: 'Este formulário já foi usado para outra decisão. Abra a página de novo.',
  concurrent_modification: 'A operação mudou ao mesmo tempo. Tente de novo.',
  webhook_not_found: 'Este webhook não existe, ou foi removido.',
  webhook_invalid_state: 'O estado atual do webhook não permite isto.',
  redelivery_running: 'Um reenvio deste webhook ainda está em andamento.',
  event_not_found: 'Este evento não foi enviado a este webhook, ou já foi apagado.',
  document_not_found: 'Esta operação não tem este documento, ou ele foi apagado.',
  own_decision: 'Quem decidiu não pode confirmar: outra pessoa precisa fazê-lo.',
  decision_void: 'Esta decisão não vale mais: a operação mudou, ou a decisão foi retirada.',
  decision_not_found: 'Não há decisão com este identificador à espera de confirmação.',
  already_awaiting: 'Outra decisão sobre esta operação já espera confirmação.',
  evidence_missing: 'O fundo pede duas pessoas, e não se sabe quem decide.',
  operation_unreadable:
    'O histórico da operação não pode ser lido por esta versão. Veja o terminal do serviço.',
};

/** Codes that do not say by themselves what is wrong: the rule's words follow, its own where the pages have none. */
const WITH_DETAIL: ReadonlySet<string> = new Set<Code>([
  ...(['invalid_date', 'validation_error', 'webhook_invalid_state'] as const),
]);

/** A refusal in the language of the answer; a code that is not known here, in the words of the rule. */
export const refusalText = ({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): string => {
  for (const [said, says] of RULES) {
    const match = said.exec(message);
    if (match) return either(...says(...match.slice(1)));
  }
  const translated = (Object.hasOwn(IN_PORTUGUESE, code) && IN_PORTUGUESE[code as Code]) || message;
  return either(WITH_DETAIL.has(code) ? `${translated} (${message})` : translated, message);
};
