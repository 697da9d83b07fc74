import { expect, test } from '@jest/globals';
import { applicationOf } from '../../../application/loans/loans.ts';
import { WebhookDesk } from '../../../application/webhooks/webhook-desk.ts';
import { Deliveries } from '../../../application/webhooks/deliveries.ts';
import { LANGUAGES, speakingIn } from '../../../infrastructure/console/language.ts';
import { refusalText } from '../../../infrastructure/console/refusals.ts';

type Json = ReturnType<typeof JSON.parse>;

const everywhere: Json = {
  registry: { list: async () => [{ applicationId: 'a' }, { applicationId: 'b' }] },
  events: { head: async () => 1n },
};
const deliveries = new Deliveries({
  subscriptions: { existing: async () => ({ webhookId: 'w', status: 'paused' }) },
} as Json);

test.each<[string, () => unknown, string, string]>([
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
  [
    'a place of another list',
    () => new WebhookDesk({} as Json).endpoints({ choice: 'all', failedFrom: '', limit: 1, cursor: 'x' }),
    'O endereço desta página está errado. Volte à lista.',
    'The address of this page is wrong. Go back to the list.',
  ],
])('%s is refused in the words of the page', async (_, refused, portuguese, english) => {
  const error = await Promise.resolve()
    .then(refused)
    .catch((thrown: unknown) => thrown);
  const told = LANGUAGES.map((language) => speakingIn(language, () => refusalText(error as Json)));
  expect(told.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([portuguese, english]);
});
