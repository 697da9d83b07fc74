import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { html } from '../../infrastructure/console/html.ts';
import { tokenField } from '../../infrastructure/console/forms.ts';
import { action, view } from '../../infrastructure/console/page.ts';
import type { Page } from '../../infrastructure/console/page.ts';
import { ConsoleServer } from '../support/console-server.ts';
import { ConsoleBrowser } from './console-browser.ts';
import type { Watched } from './console-browser.ts';

const IDLE_MS = 1_800_000;

let taken: string[];
const PROBE: Page = {
  path: '/',
  title: () => 'Probe',
  live: true,
  routes: [
    view('/', async (visit) => ({
      kind: 'page',
      body: html`<form method="post" action="/act">
        ${tokenField(visit)} <label>Reason <input name="reason" /></label><button>Send</button>
      </form>`,
    })),
    view('/done', async () => ({ kind: 'page', body: html`<p>It was taken.</p>` })),
    action('/act', async ({ fields }) => {
      taken.push(fields.get('reason')!);
      return { kind: 'redirect', to: '/done' };
    }),
  ],
};

let server: ConsoleServer;
let desk: Watched;
const newAddress = (): string => `${server.origin}/enter?token=${server.sessions.issueToken()}`;

const browser = await ConsoleBrowser.launch();
afterAll(() => browser?.close());
beforeEach(async () => {
  taken = [];
  server = await ConsoleServer.open({
    pages: [PROBE],
    liveLookEveryMs: 50,
    service: {
      maintenance: { places: async () => [] },
      webhooks: { lag: { read: async () => [] } },
      audit: { background: { progress: '' } },
    } as never,
  });
  desk = await browser.enter({ newAddress });
  await desk.page.clock.install();
  await desk.page.reload();
  await desk.page.waitForLoadState();
});
afterEach(async () => {
  await desk.page.context().close();
  await server.close();
});

describe('a form that is typed into', () => {
  test('keeps its session, and asks for it once a minute', async () => {
    const { page, complaints } = desk;
    let asked = 0;
    page.on('request', (request) => (asked += Number(request.url().endsWith('/session'))));
    const field = page.getByLabel('Reason');
    for (let minutes = 25; minutes <= 75; minutes += 25) {
      server.elapsed = minutes * 60_000;
      await page.clock.fastForward('25:00');
      const answer = page.waitForResponse(/session$/);
      await field.pressSequentially('late');
      expect((await answer).status()).toBe(200);
    }
    expect(asked).toBe(3);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('It was taken.').waitFor();
    // For a request that was under way, the time that was passed over is a time-out.
    const others = complaints.filter((one) => !one.startsWith('htmx: htmx:error: timeout'));
    expect([taken, others]).toEqual([['latelatelate'], []]);
  });

  test('says that its session is over, keeps what was typed, and is sent with the next one', async () => {
    const { page } = desk;
    await page.getByLabel('Reason').fill('a long story');
    server.elapsed = IDLE_MS;
    const alert = page.locator('form').getByText('The session is over');
    // The stream of changes ends with the session: the page is not loaded again.
    await alert.waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await alert.waitFor();
    expect([taken, await page.getByLabel('Reason').inputValue()]).toEqual([[], 'a long story']);
    const other = await page.context().newPage();
    await other.goto(newAddress());
    // Somebody else came in: what was typed is not sent in another name than the page says.
    const [held] = await page.context().cookies();
    const session = server.sessions.find(held!.value, false)!;
    const somebody = {
      issuer: 'https://id.example',
      subject: 'u-2',
      name: 'Rui',
      grants: [{ role: 'maker' }],
    };
    Object.assign(session, { person: somebody });
    const asked = page.waitForResponse(/session$/);
    await page.getByRole('button', { name: 'Send' }).click();
    expect((await asked).status()).toBe(200);
    await alert.waitFor();
    expect(taken).toEqual([]);
    Object.assign(session, { person: undefined });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('It was taken.').waitFor();
    expect(taken).toEqual(['a long story']);
  });

  test('is sent with the next session where no script runs, by the page that refused it', async () => {
    const { page } = await browser.enter({ newAddress }, { javaScriptEnabled: false });
    expect(await page.locator('noscript').innerText()).toContain('runs no scripts of the console');
    expect(await desk.page.locator('noscript').isVisible()).toBe(false);
    await page.getByLabel('Reason').fill('a long story');
    server.elapsed = IDLE_MS;
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('load this page again').waitFor();
    const other = await page.context().newPage();
    await other.goto(newAddress());
    await page.reload();
    await page.getByText('it counts in your name').waitFor();
    expect(taken).toEqual([]);
    await page.getByRole('button', { name: 'Send it in this session' }).click();
    await page.getByText('It was taken.').waitFor();
    expect(taken).toEqual(['a long story']);
    await page.context().close();
  });
});
