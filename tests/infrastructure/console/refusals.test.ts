import { expect, test } from '@jest/globals';
import { requireConfirmed } from '../../../application/administrator/decision-guards.ts';
import { applicationOf } from '../../../application/loans/loans.ts';
import { Deliveries } from '../../../application/webhooks/deliveries.ts';
import { requireNotBeforeIssue, requirePositive } from '../../../domain/loan/state.ts';
import { LANGUAGES, speakingIn } from '../../../infrastructure/console/language.ts';
import { refusalText } from '../../../infrastructure/console/refusals.ts';

type Json = ReturnType<typeof JSON.parse>;

const loan: Json = { dateIssued: '2026-06-20', acquisitionValue: 100_000 };
const everywhere: Json = {
  registry: { list: async () => [{ applicationId: 'a' }, { applicationId: 'b' }] },
  events: { head: async () => 1n },
};
const deliveries = new Deliveries({
  subscriptions: { existing: async () => ({ webhookId: 'w', status: 'paused' }) },
} as Json);

test.each<[string, () => unknown, string, string]>([
  [
    'a day before the issue',
    () => requireNotBeforeIssue(loan, 'disbursement_date', '2026-06-19' as Json),
    'Data do desembolso: 19/06/2026 vem antes da emissão da operação. Informe 20/06/2026 ou uma data posterior.',
    'Disbursement date: 19/06/2026 comes before the issue of the operation. Give 20/06/2026 or a later day.',
  ],
  [
    'no amount',
    () => requirePositive('disbursed_value', 0 as Json),
    'Valor desembolsado: R$ 0,00 não é aceito. Informe um valor acima de zero.',
    'Disbursed value: R$0.00 is not accepted. Give an amount above zero.',
  ],
  [
    'an amount that differs from its confirmation',
    () => requireConfirmed({ disbursedValue: 100_000, confirmedValue: 100_001 } as Json, loan, 1_000),
    'Valor desembolsado: R$ 1.000,00 da primeira vez e R$ 1.000,01 da segunda. Informe o mesmo valor duas vezes.',
    'Disbursed value: R$1,000.00 the first time and R$1,000.01 the second. Give the same amount twice.',
  ],
  [
    'an amount far off',
    () => requireConfirmed({ disbursedValue: 200_000 } as Json, loan, 1_050),
    'Valor desembolsado: R$ 2.000,00 fica a mais de 10,5% do valor de aquisição, R$ 1.000,00. Se está certo, informe-o mais uma vez.',
    'Disbursed value: R$2,000.00 is more than 10.5% away from the acquisition value, R$1,000.00. If it is right, give it once more.',
  ],
  [
    'a code of two applications',
    () => applicationOf(everywhere, 'OP-1'),
    '2 aplicações têm uma operação OP-1: escolha a aplicação.',
    '2 applications have an operation OP-1: choose the application.',
  ],
  [
    'a paused webhook',
    () => deliveries.resend('w', 'e'),
    'O webhook está pausado: sua aplicação precisa retomá-lo antes de qualquer envio.',
    'The webhook is paused: its application has to resume it before anything is sent.',
  ],
])('%s is refused in the words of the page', async (_, refused, portuguese, english) => {
  const error = await Promise.resolve()
    .then(refused)
    .catch((thrown: unknown) => thrown);
  const told = LANGUAGES.map((language) => speakingIn(language, () => refusalText(error as Json)));
  expect(told.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([portuguese, english]);
});
