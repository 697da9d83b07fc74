import { KeyMissingError } from '../../application/privacy/missing-keys.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { InLanguages } from './language.ts';
import { ConsoleProblem } from './page.ts';
import { refusalTexts } from './refusals.ts';

const FAILED: InLanguages<string> = {
  'pt-BR': 'Isto não deu certo. Tente de novo; se continuar assim, o terminal do console diz o motivo.',
  en: 'This did not work. Try again; if it stays like this, the terminal of the console says why.',
};
export const statusOf = (error: unknown): number => {
  if (error instanceof ConsoleProblem) return error.status;
  if (error instanceof DomainError) return 422;
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

export const textsOf = (error: unknown, status: number): InLanguages<string> => {
  if (error instanceof ConsoleProblem) return error.texts;
  if (error instanceof KeyMissingError) return KEY_MISSING;
  if (error instanceof DomainError) return refusalTexts(error);
  return status === 413 ? TOO_LARGE : FAILED;
};
