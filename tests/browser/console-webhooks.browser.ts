import { afterAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { Random } from '../support/random.ts';
import { TlsReceiver } from '../support/tls-receiver.ts';
import { within } from '../support/within.ts';
import { assignIn } from '../lives/assign-in.ts';
import type { TestApplication } from '../lives/world.ts';
import { ConsoleBeside, atDesk, followed, looked, ticks } from './console-browser.ts';
import type { Watched } from './console-browser.ts';
import { trusting } from '../support/trusted-receiver.ts';

type Json = ReturnType<typeof JSON.parse>;

const SEED = Number(process.env['SEED'] ?? 18);
const OPERATIONS = 14;

let receivers: Record<'good' | 'bad', TlsReceiver>;
let application: TestApplication;

/** Answers with a body, and refuses those of its requests that are named by their number, from 1. */
const respond = (receiver: TlsReceiver, refused: (request: number) => boolean): void => {
  receiver.answer = (response) => {
    const fails = refused(receiver.requests.length);
    response.writeHead(fails ? 503 : 200, { 'content-type': 'text/plain' });
    response.end(fails ? 'queue full, come back <later>' : 'taken');
  };
};

/** Of the receivers, which begin with it. */
const environment = async (): Promise<Record<string, string>> => {
  const ca = await authority();
  receivers = {
    good: await TlsReceiver.start(await ca.leaf()),
    bad: await TlsReceiver.start(await ca.leaf()),
  };
  respond(receivers.good, (request) => request === 3);
  respond(receivers.bad, () => true);
  return {
    ENVIRONMENT: 'sandbox',
    ...trusting(ca),
    WEBHOOK_RETRY_SCHEDULE: '1s',
  };
};

const at = atDesk(
  async (world) => {
    application = await world.createApplication();
    for (const [name, { url }] of Object.entries(receivers)) {
      const body = { url, events: ['*'], description: `the ${name} one` };
      expect(await world.call(application, { method: 'POST', path: '/webhook', body })).toMatchObject({
        status: 200,
      });
    }
    const [fund] = application.funds;
    const random = new Random(SEED);
    for (let n = 1; n <= OPERATIONS; n += 1) {
      const count = 1 + Math.floor(random.next() * 5);
      await assignIn(world, application, loanRequest(fund!, `OP-${SEED}-${n}`, count));
    }
  },
  { environment },
);
afterAll(() => Promise.all(Object.values(receivers ?? {}).map((one) => one.close())));

const openEndpoint = async (name: 'good' | 'bad', { page }: Watched = at.desk): Promise<void> => {
  await page.goto(new URL('/webhooks', page.url()).href);
  await page
    .getByRole('row', { name: `the ${name} one` })
    .getByRole('link')
    .click();
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
};

describe('Webhooks', () => {
  test('names the endpoints of all applications, the failing one first, with success and answer times', async () => {
    const { page } = at.desk;
    await page.getByRole('link', { name: 'Webhooks' }).click();
    const rows = page.locator('#endpoints tbody tr');
    // The page follows what is delivered.
    const answered = async (): Promise<boolean> => {
      const [first, second] = (await rows.allInnerTexts()) as [string, string];
      const failing = /the bad one[\s\S]*Failing for[\s\S]*\b0%/.test(first);
      return failing && /the good one[\s\S]*(?:Active|Unsteady)[\s\S]*\d%[\s\S]*\d m?s\b/.test(second);
    };
    await within('the bad one fails, and the good one has answered', 60_000, answered);
    expect(await looked(page, 'webhooks')).toEqual([]);
    await page.getByRole('link', { name: 'Paused' }).click();
    await page.getByText('No webhook here.').waitFor();
  });

  test('shows the deliveries of one, by state', async () => {
    await openEndpoint('good');
    const { page } = at.desk;
    await page.getByRole('link', { name: 'Delivered', exact: true }).click();
    await page.locator('nav.choices a[aria-current]', { hasText: 'Delivered' }).waitFor();
    await page.waitForLoadState();
    for (const tick of await ticks(page)) expect(tick).toMatch(/^\d+(\.\d)? m?s$/);
    const states = await page.locator('tbody tr td:nth-child(4)').allInnerTexts();
    expect(new Set(states)).toEqual(new Set(['Delivered']));
    expect(await looked(page, 'webhook')).toEqual([]);
  });

  test('shows what was sent and what came back', async () => {
    await openEndpoint('bad');
    const { page } = at.desk;
    await page
      .getByRole('link', { name: /loan_received/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Body sent' }).waitFor();
    const { event_id: eventId, event } = JSON.parse(await page.locator('pre').last().innerText());
    expect([event, page.url()]).toEqual(['loan_received', expect.stringContaining(eventId)]);
    const answer = page.locator('#answer-1');
    await answer.locator('summary').click();
    await answer.getByText('queue full, come back <later>').waitFor();
    // What was opened stays open when the page is told of a change.
    await followed(page, 'after');
    expect(await answer.getByText('queue full, come back <later>').isVisible()).toBe(true);
    expect(await looked(page, 'delivery')).toEqual([]);
  });

  test('sends one again, and a ping, which reach the receiver and show here', async () => {
    const { page } = at.desk;
    await openEndpoint('good');
    const arrived = receivers.good.requests.length;
    await page
      .getByRole('link', { name: /loan_received/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Attempts' }).waitFor();
    const attempts = page.locator('#delivery tbody tr');
    const earlier = await attempts.count();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL(/attempt=\d+&asked=/);
    // Nobody loads the page again.
    await within('the attempt is there, with its answer', 60_000, async () => {
      const texts = await attempts.allInnerTexts();
      return texts.length === earlier + 1 && /\b(200|503)\b/.test(texts.at(-1)!);
    });
    expect(await page.getByText('Asked for here').count()).toBe(0);
    await openEndpoint('good');
    await page.waitForLoadState();
    // The list is of the newest fifty: an older ping may have left it.
    const pings = (): Promise<readonly (readonly [string, string])[]> =>
      page
        .locator('tbody tr', { hasText: 'webhook.ping' })
        .evaluateAll((rows) => rows.map((row: Json) => [row.querySelector('a').href, row.innerText]));
    const before = (await pings()).map(([address]) => address);
    // What the page follows is put in place after the click, not in the middle of it.
    await page.getByRole('button', { name: 'Send a ping' }).hover();
    await page.mouse.down();
    await followed(page, 'before');
    await page.mouse.up();
    await page.getByText('The ping is queued').waitFor();
    await within('both have arrived, and the page shows it', 60_000, async () => {
      const shown = (await pings()).some(
        ([address, text]) => !before.includes(address) && /Delivered/.test(text),
      );
      return shown && receivers.good.requests.length >= arrived + 2;
    });
  });

  test('sends all again that one gave up, with its progress, and says what it cannot read', async () => {
    const { page } = at.desk;
    const { body } = await at.world.call(application, { method: 'GET', path: '/webhook' });
    const { webhook_id: id } = body.data.find(
      (one: { description: string }) => one.description === 'the bad one',
    );
    const given = async (): Promise<number> => {
      const path = `/webhook/${id}/deliveries?status=failed&limit=200`;
      return (await at.world.call(application, { method: 'GET', path })).body.data.length;
    };
    await within('some are given up', 60_000, async () => (await given()) > 3);
    respond(receivers.bad, () => false);
    await openEndpoint('bad');
    await page.getByLabel('What failed since').fill('yesterday');
    await page.getByRole('button', { name: 'Send all again' }).click();
    await page.getByText('Write a day and a time that exist').waitFor();
    await openEndpoint('bad');
    await page.getByRole('button', { name: 'Send all again' }).click();
    await page.waitForURL(/again=/);
    // Nobody loads the page again.
    await page.locator('h2', { hasText: 'Sent again' }).getByText('Completed').waitFor({ timeout: 60_000 });
    const [, done, all] =
      /(\d+) of (\d+): \1 succeeded\./.exec(await page.locator('#endpoint').innerText()) ?? [];
    expect([done, Number(all) > 3]).toEqual([all, true]);
    await within('none is left', 60_000, async () => (await given()) === 0);
    expect(await looked(page, 'webhook-again')).toEqual([]);
  });

  test('sends nothing of a paused one, and says why', async () => {
    const { body } = await at.world.call(application, { method: 'GET', path: '/webhook' });
    const { webhook_id: id } = body.data.find(
      (one: { description: string }) => one.description === 'the bad one',
    );
    await at.world.call(application, { method: 'POST', path: `/webhook/${id}/pause` });
    await openEndpoint('bad');
    await at.desk.page.getByText('The webhook is paused').waitFor();
    expect(await at.desk.page.getByRole('button', { name: 'Send a ping' }).count()).toBe(0);
  });

  test('speaks Portuguese', async () => {
    const { page, complaints } = await at.enter({ locale: 'pt-BR' });
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'Endereços' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

test('with --read-only nothing is sent: there is no button, and a form made by hand is refused', async () => {
  const reading = await ConsoleBeside.open(at.world, { readOnly: true });
  try {
    const auditor = await at.browser.enter(reading);
    await openEndpoint('good', auditor);
    const { page } = auditor;
    expect(await page.getByRole('button', { name: 'Send a ping' }).count()).toBe(0);
    const token = await page.locator('input[name=form_token]').first().inputValue();
    const answer = await page.request.post(`${page.url()}/ping`, {
      form: { form_token: token },
      headers: { origin: new URL(page.url()).origin },
    });
    expect(answer.status()).toBe(403);
  } finally {
    await reading.close();
  }
});

test('no page complains, or asks another host for anything', () => {
  expect(at.desk.complaints.filter((one) => !one.includes('status of 422'))).toEqual([]);
});
