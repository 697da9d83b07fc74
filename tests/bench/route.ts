import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loanRequest } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

/**
 * The files that one settlement passes through, from the socket to the webhook: every file of the product in which a function runs
 * while a warm service takes one settlement and delivers its webhook. What an idle service runs anyway (timers) counts as well.
 */
/** What follows the log beside the way to the webhook: read models, seals, decisions, dates, renegotiations, the sandbox's clock. */
const BESIDE =
  /^(projections|application\/(administrator|projecting|renegotiation|sandbox|scheduling|seals)|infrastructure\/(sql\/read-models|composition\/(areas\/scheduling|projections)))/;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const directory = temporaryDirectory();
const ca = await authority();
const receiver = await WebhookReceiver.start(ca);
const service = await ServiceProcess.start(
  join(directory, 'data'),
  {
    SANDBOX_STEP: '50ms',
    ...trusting(ca),
    ROUTE_DIR: directory,
  },
  ['--import', './tests/bench/route-preload.mjs'],
);

/** What ran in any thread since the last call. */
const take = async (number: number): Promise<ReadonlyMap<string, readonly string[]>> => {
  writeFileSync(join(directory, `take-${number}`), '');
  await setTimeout(1000);
  const files = new Map<string, readonly string[]>();
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`ran-${number}-`)) continue;
    const ran = JSON.parse(readFileSync(join(directory, name), 'utf8')) as {
      readonly url: string;
      readonly functions: readonly string[];
    }[];
    for (const { url, functions } of ran) {
      const file = relative(ROOT, fileURLToPath(url));
      if (!/^(domain|application|projections|infrastructure)\//.test(file)) continue;
      files.set(file, [...(files.get(file) ?? []), ...functions]);
    }
  }
  return files;
};

try {
  const api = await service.client();
  await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
  const arrived = (code: string, event: string): Promise<void> =>
    receiver.until(() => receiver.eventsOf(code).includes(event), event);
  const settle = async (code: string, installment: string): Promise<void> => {
    const count = receiver.eventsOf(code).length;
    const { status, body } = await api.settle(code, installment, 950);
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    await receiver.until(() => receiver.eventsOf(code).length > count, 'installment_settled');
  };
  const code = 'ROUTE-1';
  // Nothing is overdue: what marks installments is another way, and would meet the settlement in the stream.
  const installments = ['001', '002', '003', '004'].map((installment) => ({
    code: installment,
    due_date: `${new Date().getUTCFullYear() + 2}-01-15`,
    face_value: 950,
  }));
  await api.assign(loanRequest(api.fund, code, 4, { installments }));
  await arrived(code, 'disbursement_completed');
  await settle(code, '001');
  await take(0);
  await settle(code, '002');
  const ran = await take(1);
  const folders = Map.groupBy(ran.keys(), (file) => file.split('/').slice(0, 2).join('/'));
  for (const file of [...ran.keys()].sort())
    console.log(`${file}: ${[...new Set(ran.get(file))].filter(Boolean).slice(0, 6).join(', ')}`);
  console.log();
  for (const [folder, files] of [...folders].sort())
    console.log(`${String(files.length).padStart(4)} ${folder}`);
  const beside = [...ran.keys()].filter((file) => BESIDE.test(file)).length;
  console.log(`${String(ran.size).padStart(4)} files, ${beside} of them in other followers of the log:`);
  console.log(`${String(ran.size - beside).padStart(4)} from the socket to the webhook`);
} finally {
  await service.end('SIGTERM');
  await receiver.close();
}
