import type { Person } from '../../application/desk/person.ts';
import { RoleError } from '../../application/desk/rights.ts';
import { UnknownFundError } from '../../application/desk-view/unseen.ts';
import { KeyMissingError } from '../../application/privacy/missing-keys.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../domain/shared/domain-error.ts';
import type { InLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';
import { refusalTexts } from './refusals.ts';

const FAILED: InLanguages<string> = {
  'pt-BR': 'Isto não deu certo. Tente de novo; se continuar assim, o terminal do console diz o motivo.',
  en: 'This did not work. Try again; if it stays like this, the terminal of the console says why.',
};
const UNKNOWN_FUND: InLanguages<string> = {
  'pt-BR': 'Não há tal fundo. Escolha um da lista.',
  en: 'There is no such fund. Choose one of the list.',
};

const NOT_FOUND: ReadonlySet<string> = new Set<DomainErrorCode>([
  ...(['loan_not_found', 'document_not_found', 'webhook_not_found', 'event_not_found'] as const),
]);

/** Roles are called as the provider is told to name them. */
const roleTexts = ({ roles, everywhere }: RoleError): InLanguages<string> => {
  const [others, last] = [roles.slice(0, -1).join(', '), roles.at(-1)];
  if (last === undefined)
    return {
      'pt-BR': 'Nenhum papel permite isto no console. Quem opera o serviço o faz na linha de comando.',
      en: 'No role allows this at the console. Who operates the service does it on the command line.',
    };
  const any = (or: string): string => (others === '' ? last : `${others} ${or} ${last}`);
  return {
    'pt-BR': `O seu papel não permite isto. É preciso ser ${any('ou')} ${everywhere ? 'em todos os fundos' : 'neste fundo'}; peça a quem administra os acessos.`,
    en: `Your role does not allow this. It takes the role ${any('or')} in ${everywhere ? 'all funds' : 'this fund'}; ask whoever administers access.`,
  };
};

/** @param person for whom what cannot be seen is as if it were not there */
export const statusOf = (error: unknown, person: Person | undefined): number => {
  if (error instanceof ConsoleProblem) return error.status;
  if (error instanceof RoleError) return 403;
  if (error instanceof UnknownFundError) return 404;
  if (error instanceof DomainError) return person && NOT_FOUND.has(error.code) ? 404 : 422;
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : 500;
};

const TOO_LARGE: InLanguages<string> = {
  'pt-BR': 'O formulário é grande demais. Escolha menos operações de cada vez.',
  en: 'The form is too large. Choose fewer operations at a time.',
};

const KEY_MISSING: InLanguages<string> = {
  'pt-BR':
    'A chave dos dados do tomador desta operação foi perdida, e não há registro de que o tomador foi esquecido. Devolva a chave a partir de uma cópia de segurança; se nenhuma a tiver, desista dela com `receivables borrower forget --lost-key` (docs/operations.md, KeysMissing).',
  en: 'The key of this operation’s borrower data is lost, and no record says that the borrower was forgotten. Put the key back from a backup; if none has it, give it up with `receivables borrower forget --lost-key` (docs/operations.md, KeysMissing).',
};

/** What the person is told. */
export const textsOf = (error: unknown, status: number): InLanguages<string> => {
  if (error instanceof ConsoleProblem) return error.texts;
  if (error instanceof RoleError) return roleTexts(error);
  if (error instanceof UnknownFundError) return UNKNOWN_FUND;
  if (error instanceof KeyMissingError) return KEY_MISSING;
  if (error instanceof DomainError) return refusalTexts(error);
  return status === 413 ? TOO_LARGE : FAILED;
};
