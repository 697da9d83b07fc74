import type { AwaitingStatus } from '../../../application/ports/loan-queries.ts';
import type { InLanguages } from '../language.ts';

/** Words that several pages use, so that they all use the same. */
interface Words {
  /** The decision that an operation in this state waits for. */
  readonly awaited: Readonly<Record<AwaitingStatus, string>>;
  readonly fund: string;
  readonly application: string;
  readonly operation: string;
  readonly status: string;
  readonly acquisitionValue: string;
  readonly waitsFor: string;
  readonly waits: string;
  readonly more: string;
  readonly all: string;
  readonly noOperation: string;
}

export const WORDS: InLanguages<Words> = {
  'pt-BR': {
    awaited: {
      received: 'Aprovação',
      approved: 'Assinatura do termo',
      term_signed: 'Desembolso',
      repurchase_pending: 'Conclusão da recompra',
    },
    fund: 'Fundo',
    application: 'Aplicação',
    operation: 'Operação',
    status: 'Situação',
    acquisitionValue: 'Valor de aquisição',
    waitsFor: 'Espera por',
    waits: 'Espera há',
    more: 'Próxima página',
    all: 'Todos',
    noOperation: 'Não há operação com este código nesta aplicação. Volte à lista e escolha outra.',
  },
  en: {
    awaited: {
      received: 'Approval',
      approved: 'Signature of the term',
      term_signed: 'Disbursement',
      repurchase_pending: 'Completion of the repurchase',
    },
    fund: 'Fund',
    application: 'Application',
    operation: 'Operation',
    status: 'Status',
    acquisitionValue: 'Acquisition value',
    waitsFor: 'Waits for',
    waits: 'Waiting for',
    more: 'Next page',
    all: 'All',
    noOperation:
      'This application has no operation with this code. Go back to the list and choose another one.',
  },
};
