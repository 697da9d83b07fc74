import { Pool } from 'undici';
import { loanRequest, settlement } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { load } from './load.ts';
import type { Request } from './load.ts';
import { pause, percentile, startReceiver } from './webhook-bench-world.ts';
import type { Receiver } from './webhook-bench-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

const INSTALLMENTS = 120;
const OPERATIONS = Number(process.env['ARRIVAL_OPERATIONS'] ?? 300);
const PEAK_SECONDS = 4;
const SECONDS = 8;
const CONNECTIONS = 32;

interface Settlement {
  /** Operation and installment, as the receiver names what arrived. */
  readonly key: string;
  readonly request: Request;
}

/** Milliseconds of the machine's clock, comparable between processes and finer than Date.now. */
const instant = (): number => performance.timeOrigin + performance.now();

const assignOperations = async (api: ApiClient): Promise<readonly string[]> => {
  const codes = Array.from({ length: OPERATIONS }, (_, i) => `A-${i}`);
  const waiting = codes.values();
  const assign = async (): Promise<void> => {
    for (const code of waiting) {
      const { status } = await api.assign(loanRequest(api.fund, code, INSTALLMENTS));
      if (status !== 201) throw new Error(`assignment: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, assign));
  for (const code of codes) await api.untilStatus(code, 'active', 120_000);
  return codes;
};

const settlementsOf = async (api: ApiClient, codes: readonly string[]): Promise<Settlement[]> => {
  const headers = { authorization: `Bearer ${await api.token()}`, 'content-type': 'application/json' };
  return Array.from({ length: INSTALLMENTS }, (_, i) => String(i + 1).padStart(3, '0')).flatMap(
    (installment) =>
      codes.map((code) => ({
        key: `${code}/${installment}`,
        request: {
          path: '/installment/settle',
          headers,
          body: JSON.stringify(settlement(code, installment, 950)),
        },
      })),
  );
};

/** Settles at a steady rate; answers when each one was answered with 200. */
const settleSteadily = async (
  baseUrl: string,
  settlements: Settlement[],
  rate: number,
): Promise<ReadonlyMap<string, number>> => {
  const pool = new Pool(baseUrl, { connections: CONNECTIONS, pipelining: 1 });
  const answered = new Map<string, number>();
  const send = async ({ key, request }: Settlement): Promise<void> => {
    const response = await pool.request({ method: 'POST', ...request });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`settlement: ${response.statusCode}`);
    answered.set(key, instant());
  };
  const underWay: Promise<void>[] = [];
  const startedAt = performance.now();
  while (underWay.length < rate * SECONDS) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate);
    while (underWay.length < due) {
      const next = settlements.pop();
      if (!next) throw new Error('not enough settlements: set ARRIVAL_OPERATIONS higher');
      underWay.push(send(next));
    }
    await pause(1);
  }
  await Promise.all(underWay);
  await pool.close();
  return answered;
};

/** Waits until nothing has arrived for a second. */
const untilQuiet = async (receiver: Receiver): Promise<void> => {
  while ((await receiver.arrivals()).length > 0) await pause(1_000);
};

const measure = async (service: ServiceProcess, receiver: Receiver): Promise<void> => {
  const api = await service.client();
  const hook = { url: `${receiver.origin}/arrivals`, events: ['installment_settled'] };
  const registered = await api.call('POST', '/webhook', hook);
  if (registered.status !== 200) throw new Error(`webhook: ${registered.status}`);
  const settlements = await settlementsOf(api, await assignOperations(api));
  const peak = await load(service.baseUrl, () => settlements.pop()?.request, {
    connections: CONNECTIONS,
    seconds: PEAK_SECONDS,
    status: 200,
  });
  await untilQuiet(receiver);
  const rate = peak.perSecond / 4;
  const answered = await settleSteadily(service.baseUrl, settlements, rate);
  await pause(1_000);
  const times = (await receiver.arrivals()).flatMap(({ key, at }) => {
    const since = answered.get(key);
    return since === undefined ? [] : [Math.max(0, at - since)];
  });
  console.log(
    `from a settlement's 200 to its webhook, at ${rate.toFixed(0)}/s of at most ${peak.perSecond.toFixed(0)}/s: ` +
      `${times.length} of ${answered.size} arrived, p50 ${percentile(times, 0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(times, 0.99).toFixed(1)} ms`,
  );
};

/** From a settlement's 200 to the arrival of its webhook, through the whole service, at a quarter of its peak. */
export const arrival = async (): Promise<void> => {
  const receiver = await startReceiver();
  const service = await ServiceProcess.start(temporaryDirectory(), {
    SANDBOX_STEP: '1ms',
    LOG_LEVEL: 'error',
    ...trusting(receiver),
  });
  try {
    await measure(service, receiver);
  } finally {
    await service.end('SIGTERM');
    receiver.stop();
  }
};
