import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { InsistentWriters } from '../support/insistent-writers.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { TlsReceiver } from '../support/tls-receiver.ts';
import type { Answer } from '../support/tls-receiver.ts';
import { Random } from '../support/random.ts';

const KILLS = Number(process.env['KILLS'] ?? 50);
const SEED = Number(process.env['SEED'] ?? 20_261_121);
const WRITERS = 6;
const INSTALLMENTS = 3;
const ACKNOWLEDGED_BETWEEN_KILLS = 20;
const TIMEOUT_MS = 500;
const EVENTS = [
  'loan_received',
  'loan_approved',
  'loan_term_signed',
  'disbursement_completed',
  ...Array.from({ length: INSTALLMENTS }, () => 'installment_settled'),
  'loan_fully_settled',
];

interface Seen {
  readonly code: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const random = new Random(SEED);
/** Answered with 200, whether or not the service lived to read it. */
const accepted: Seen[] = [];
const bodies = new Map<string, Set<string>>();
const trouble = { status: 0, silence: 0, cut: 0, late: 0 };
let calm = false;

/** Each delivery meets a receiver in one of five moods. */
const moody: Answer = (response, request, socket) => {
  const text = request.body.toString();
  const { originator_proposal_code: code } = JSON.parse(text) as { originator_proposal_code: string };
  const [event, eventId] = [request.headers['x-svc-event'], request.headers['x-svc-event-id']];
  const seen = { code, event: String(event), eventId: String(eventId), body: text };
  bodies.set(seen.eventId, (bodies.get(seen.eventId) ?? new Set()).add(text));
  const accept = (): void => {
    accepted.push(seen);
    response.writeHead(200).end();
  };
  const mood = calm ? 1 : random.next();
  if (mood < 0.1) {
    trouble.status++;
    response.writeHead(random.pick([500, 502, 503, 429])).end();
  } else if (mood < 0.13) {
    trouble.silence++;
  } else if (mood < 0.2) {
    trouble.cut++;
    socket.destroy();
  } else if (mood < 0.3) {
    trouble.late++;
    setTimeout(accept, random.next() * 0.6 * TIMEOUT_MS);
  } else accept();
};

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let receiver: TlsReceiver;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const ca = await authority();
  const caFile = join(directory.path, 'ca.pem');
  writeFileSync(caFile, ca.caPem);
  receiver = await TlsReceiver.start(await ca.leaf());
  receiver.answer = moody;
  service = await ServiceProcess.start(join(directory.path, 'data'), {
    SANDBOX_STEP: '10ms',
    WEBHOOK_CA_FILE: caFile,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
    // So many that no delivery is given up: at one failure in five, sixteen in a row do not happen.
    WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 15 }, () => '100ms').join(','),
  });
}, 60_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  await directory?.remove();
});

/** Events of one operation in the order in which they were first accepted. */
const firstAccepted = (code: string): Seen[] => {
  const ids = new Set<string>();
  return accepted.filter((one) => one.code === code && !ids.has(one.eventId) && ids.add(one.eventId));
};

test(
  `${KILLS} kills and a moody receiver: every event arrives, in order per operation, under one id (seed ${SEED})`,
  async () => {
    const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
    const hook = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
    expect(hook.status).toBe(200);
    const writers = new InsistentWriters(api, { writers: WRITERS, installments: INSTALLMENTS, prefix: 'C' });
    for (let kill = 0; kill < KILLS; kill++) {
      await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN_KILLS);
      await pause(random.next() * 100);
      await service.end('SIGKILL');
      await service.start();
    }
    await writers.stop();
    const { acknowledged, finished } = writers;
    calm = true;
    const deadline = Date.now() + 120_000;
    const complete = (code: string) => firstAccepted(code).length >= EVENTS.length;
    while (!finished.every(complete) && Date.now() < deadline) await pause(250);
    for (const code of finished)
      expect({ code, events: firstAccepted(code).map(({ event }) => event) }).toEqual({
        code,
        events: EVENTS,
      });
    // The same id never comes with other bytes, nor the same event under a second id.
    for (const texts of bodies.values()) expect(texts.size).toBe(1);
    expect(Object.values(trouble).every((times) => times > 0)).toBe(true);
    expect(finished.length).toBeGreaterThan(KILLS);
    console.log(
      `${KILLS} kills, ${acknowledged} acknowledged writes, ${finished.length} operations, ${accepted.length} accepted posts, ` +
        `of them ${accepted.length - bodies.size} repetitions; trouble ${JSON.stringify(trouble)}`,
    );
  },
  180_000 + KILLS * 15_000,
);
