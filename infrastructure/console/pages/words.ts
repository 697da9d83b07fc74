import type { AwaitingStatus } from '../../../application/administrator/awaited.ts';
import { inLanguages } from '../language.ts';
import type { Both } from '../language.ts';

/** Words that several pages use, so that they all use the same. */
export const words = inLanguages({
  awaited: {
    received: ['Aprovação', 'Approval'],
    approved: ['Assinatura do termo', 'Signature of the term'],
    term_signed: ['Desembolso', 'Disbursement'],
    repurchase_pending: ['Conclusão da recompra', 'Completion of the repurchase'],
  } satisfies Record<AwaitingStatus, Both>,
  fund: ['Fundo', 'Fund'],
  application: ['Aplicação', 'Application'],
  operation: ['Operação', 'Operation'],
  status: ['Situação', 'Status'],
  acquisitionValue: ['Valor de aquisição', 'Acquisition value'],
  waitsFor: ['Espera por', 'Waits for'],
  waits: ['Espera há', 'Waiting for'],
  more: ['Próxima página', 'Next page'],
  all: ['Todos', 'All'],
  noOperation: [
    'Não há operação com este código nesta aplicação. Volte à lista e escolha outra.',
    'This application has no operation with this code. Go back to the list and choose another one.',
  ],
});
