import { loanRequest } from '../support/api-client.ts';
import type { ApiResponse } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { WebhookReceiver, signatureHolds } from '../support/webhook-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

/** One operation's life against a throw-away instance, told on the screen. Ends with 0 only when every step was as it should be. */
const say = (text: string): void => console.log(text);
const money = (value: number): string => `R$ ${value.toFixed(2)}`;

const prepayment = (code: string, value: number): object => ({
  originator_proposal_code: code,
  prepayment_value: value,
  prepayment_date: '2026-03-20',
  payment_method: 'pix',
  idempotency_key: `${code}-prepayment`,
});

const expectStatus = (response: ApiResponse, status: number): ApiResponse => {
  if (response.status !== status) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
  return response;
};

const ca = await authority();
const receiver = await WebhookReceiver.start(ca);
say('Starting a sandbox with an empty data directory ...');
const service = await ServiceProcess.start(temporaryDirectory(), {
  SANDBOX_STEP: '400ms',
  ...trusting(ca),
});

const tell = async (): Promise<void> => {
  const api = await service.client();
  say(
    `Ready at ${service.baseUrl}; a client for one fund exists, and a receiver of webhooks listens over TLS.\n`,
  );

  const hook = expectStatus(await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] }), 200);
  const secret = hook.body.signing_secret as string;
  receiver.onArrival = (arrival) => {
    if (!signatureHolds(arrival, secret)) throw new Error(`${arrival.event}: the signature is wrong`);
    say(`   webhook  ${arrival.event.padEnd(24)} signature holds, attempt ${arrival.attempt}`);
  };
  const arrived = (code: string, event: string): Promise<void> =>
    receiver.until(() => receiver.eventsOf(code).includes(event), event);

  const code = 'DEMO-0001';
  say('POST /loan: four installments of R$ 950.00 with the credit note as a PDF');
  expectStatus(await api.assign(loanRequest(api.fund, code, 4)), 201);
  await arrived(code, 'disbursement_completed');

  say('\nPOST /installment/settle: the first installment, in full; then the same request once more');
  expectStatus(await api.settle(code, '001', 950), 200);
  const again = expectStatus(await api.settle(code, '001', 950), 200);
  say(`   second answer: Idempotent-Replayed: ${again.headers.get('idempotent-replayed')}`);
  await arrived(code, 'installment_settled');

  say('\nPOST /installment/settle: the second one, R$ 20.00 short');
  expectStatus(await api.settle(code, '002', 930), 200);
  await arrived(code, 'installment_underpaid');

  say(
    '\nPOST /installment/prepayment: R$ 940.00 on 2026-03-20, two months before the last installment is due',
  );
  const prepaid = expectStatus(await api.call('POST', '/installment/prepayment', prepayment(code, 940)), 200);
  const { settled_installments, remaining_balance } = prepaid.body;
  say(
    `   pays off ${settled_installments.join(', ')}; ${money(remaining_balance as number)} is left to pay on that day`,
  );
  await arrived(code, 'installment_prepaid');

  say('\nPOST /installment/settle: the one that is left');
  const owed = expectStatus(await api.loan(code), 200).body.installments[2].outstanding_value as number;
  expectStatus(await api.settle(code, '003', owed), 200);
  await arrived(code, 'loan_fully_settled');

  const { body } = expectStatus(await api.loan(code), 200);
  say(`\nGET /loan/${code}: ${body.status}, received ${money(body.balances.received_value as number)}`);
  for (const i of body.installments)
    say(`   ${i.code}  due ${i.due_date}  ${money(i.face_value as number)}  ${i.status}`);
};

try {
  await tell();
  say('\nAll of it is as it should be. Start your own with: npm start');
} finally {
  await service.end('SIGTERM');
  await receiver.close();
}
