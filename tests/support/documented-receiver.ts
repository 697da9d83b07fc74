import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  signatureOf,
  signingKeyOf,
  timedSignatureOf,
} from '../../infrastructure/webhooks/sending/webhook-sender.ts';
import { freePort } from './service-process.ts';

const DOCS = new URL('../../docs/', import.meta.url);

/** The block of code that stands below `<!-- name -->` on a page of the documentation. @throws Error when there is none */
export const documentedCode = (page: string, name: string): string => {
  const text = readFileSync(new URL(page, DOCS), 'utf8');
  const [, after] = text.split(`<!-- ${name} -->`);
  const code = /^\s*```\w+\n([\s\S]*?)\n```/.exec(after ?? '')?.[1];
  if (code === undefined) throw new Error(`${page} has no code ${name}`);
  return `${code}\n`;
};

/** Lines that a reader has to own: without empty ones. */
export const linesOf = (code: string): number => code.split('\n').filter((line) => line.trim() !== '').length;

const SECRETS = ['whsec_new', 'whsec_old'];

interface Received {
  /** HTTP numbers: signed with the new secret, the same again, with the old one, with another one, changed on the way. */
  readonly answers: readonly number[];
  /** What the receiver printed: the events that it took. */
  readonly taken: readonly string[];
}

const post = async (
  url: string,
  { secret, eventId = randomUUID(), sent }: { secret: string; eventId?: string; sent?: string },
): Promise<number> => {
  const body = Buffer.from(JSON.stringify({ event: 'installment_settled', event_id: eventId }));
  const [key, timestamp] = [signingKeyOf(secret), String(Math.floor(Date.now() / 1000))];
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-svc-event-id': eventId,
      'x-svc-timestamp': timestamp,
      'x-svc-signature': signatureOf(body, key),
      'x-svc-signature-v2': timedSignatureOf(eventId, timestamp, body, key),
    },
    body: sent ?? body,
  });
  return answer.status;
};

const untilListening = async (url: string): Promise<void> => {
  for (;;) {
    if (await fetch(url).catch(() => undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Starts a receiver of the documentation and sends it what a receiver gets. `{port}` in the arguments is its port. */
export const receive = async (
  [command, ...arguments_]: readonly [string, ...string[]],
  folder: string,
): Promise<Received> => {
  const port = String(await freePort());
  const child = spawn(
    command,
    arguments_.map((one) => one.replace('{port}', port)),
    {
      cwd: folder,
      env: { ...process.env, PORT: port, SIGNING_SECRETS: SECRETS.join(',') },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const taken: string[] = [];
  createInterface(child.stdout).on('line', (line) => taken.push(line));
  try {
    const url = `http://127.0.0.1:${port}/hooks`;
    await untilListening(url);
    const eventId = randomUUID();
    const answers = [
      await post(url, { secret: 'whsec_new', eventId }),
      await post(url, { secret: 'whsec_new', eventId }),
      await post(url, { secret: 'whsec_old' }),
      await post(url, { secret: 'whsec_other' }),
      await post(url, { secret: 'whsec_new', sent: '{"event":"forged"}' }),
    ];
    return { answers, taken };
  } finally {
    const ended = once(child, 'close');
    child.kill();
    await ended;
  }
};

export const EXPECTED: Received = {
  answers: [204, 204, 204, 401, 401],
  taken: ['installment_settled', 'installment_settled'],
};
