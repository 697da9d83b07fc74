import { globSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authority } from '../support/certificates.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

/** Seconds ahead of the true time, one after the other: a minute, an hour, a day, both ways. */
const JUMPS = [-60, 0, 60, 0, -3_600, 0, 3_600, 0, -86_400, 0, 86_400, 0];
const ACKNOWLEDGED_BETWEEN_JUMPS = 30;
const WRITERS = 4;
const INSTALLMENTS = 3;
/** Far longer than the gaps between attempts, far shorter than the jumps. */
const SOON_MS = 30_000;
/** Attempts under way when a jump ahead ends their leases; each is made once more. */
const MOST_TWICE = 64;

const directory = temporaryDirectory();
let clockFile: string;
let service: ServiceProcess;
let receiver: WebhookReceiver;

const setClock = (seconds: number): void => {
  writeFileSync(`${clockFile}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  renameSync(`${clockFile}.new`, clockFile);
};

beforeAll(async () => {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
  if (library === undefined) throw new Error('this test needs the package `faketime`');
  clockFile = join(directory, 'clock');
  setClock(0);
  const ca = await authority();
  receiver = await WebhookReceiver.start(ca);
  service = await ServiceProcess.start(join(directory, 'data'), {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_NO_CACHE: '1',
    // Timers go on as they do when the clock of a machine is set.
    DONT_FAKE_MONOTONIC: '1',
    SANDBOX_STEP: '10ms',
    ...trusting(ca),
    WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 60 }, () => '1s').join(','),
  });
}, 300_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
});

test('a clock that is set back and ahead under load loses, doubles and blocks nothing', async () => {
  const api = await service.client();
  const hook = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
  expect(hook.status).toBe(200);
  // One in eight is tried again, so that something always waits when the clock is set.
  receiver.respond = ({ eventId, attempt }) => (attempt === 1 && /[01]$/.test(eventId) ? 503 : 200);
  const expected = eventsOfWholeLife(INSTALLMENTS);
  const counts = new Map<string, number>();
  for (const [n, seconds] of JUMPS.entries()) {
    const writers = new InsistentWriters(api, {
      writers: WRITERS,
      installments: INSTALLMENTS,
      prefix: `J${n}`,
    });
    await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN_JUMPS);
    setClock(seconds);
    await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN_JUMPS);
    await writers.stop();
    const { finished } = writers;
    expect(finished.length).toBeGreaterThan(0);
    const all = () => finished.every((code) => receiver.eventsOf(code).length >= expected.length);
    await receiver.until(all, `webhooks after the jump to ${seconds} s`, SOON_MS);
    for (const code of finished) expect(receiver.eventsOf(code)).toEqual(expected);
  }
  for (const { eventId, attempt } of receiver.arrivals) {
    const key = `${eventId} ${attempt}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  expect([...counts.values()].filter((count) => count > 1).length).toBeLessThan(MOST_TWICE);
  expect(await service.receivables('audit', 'verify')).toContain('"differences":0');
}, 900_000);
