import { describe, expect, test } from '@jest/globals';
import { liveAll } from '../lives/live.ts';
import { failuresOf, livesFrom } from '../lives/smallest.ts';
import { atDesk, looked, shown } from './console-browser.ts';

type Json = ReturnType<typeof JSON.parse>;

const BEHIND = 'relay: events still to read: 3';
const LIVES = 12;
const SEED = Number(process.env['SEED'] ?? 7);

const at = atDesk(async (world) => {
  expect(await failuresOf(SEED, await liveAll(world, livesFrom(SEED, LIVES)))).toEqual([]);
});

describe('Today', () => {
  test('shows what waits, by fund', async () => {
    const { page } = at.desk;
    await shown(page, 'Today');
    await page.locator('#waiting tbody tr').first().waitFor();
    // A service inside a test holds no directory; a service of its own process is found in tests of the command line.
    await page.getByText(/^No service was found/).waitFor();
    await page.getByText('All that was recorded is in the reads and was published.').waitFor();
    await page.getByText(/^None of the \d+ endpoints is failing\.$/).waitFor();
    for (const busy of await page.locator('[aria-busy]').all()) await busy.waitFor({ state: 'detached' });
    expect(await looked(page, 'today')).toEqual([]);
  });

  test('comes to what is true by itself, though what follows the log was behind when it was looked for', async () => {
    const { page } = await at.enter();
    await page.route('**/today/service', async (route) => {
      const answer = await route.fetch();
      const behind = (await answer.text()).replace(
        'All that was recorded is in the reads and was published.',
        BEHIND,
      );
      await route.fulfill({ response: answer, body: behind });
    });
    await page.reload();
    await page.getByText(BEHIND).waitFor();
    // An answer that is under way is still changed.
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('All that was recorded is in the reads and was published.').waitFor();
  });

  test('forgets no change that is told while a part is being fetched', async () => {
    const { page } = await at.enter();
    await page.getByText('All that was recorded is in the reads and was published.').waitFor();
    const [answered, change] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let asked = 0;
    await page.route('**/today/endpoints', async (route) => {
      asked += 1;
      const answer = await route.fetch();
      const body = (await answer.text()).replace('</section>', `<p>answer ${asked}</p></section>`);
      if (asked === 1) {
        answered.resolve();
        await change.promise;
      }
      await route.fulfill({ response: answer, body });
    });
    const tell = () =>
      page.evaluate(() =>
        (globalThis as Json).document.querySelector('#live').dispatchEvent(new Event('changed')),
      );
    await tell();
    await answered.promise;
    await tell();
    change.resolve();
    await page.getByText(/^answer ([2-9]|\d\d)$/).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('leads from a group to its worklist', async () => {
    const { page } = at.desk;
    const group = page.locator('#waiting tbody tr').first();
    const [operations] = await group.locator('td.number').allInnerTexts();
    await group.getByRole('link').click();
    await shown(page, 'Decisions');
    expect(await page.locator('tbody tr').count()).toBe(Number(operations));
    await page.getByRole('link', { name: 'Today' }).click();
  });

  test('speaks Portuguese where the browser does, and changes when it is asked to', async () => {
    const { page, complaints } = await at.enter({ locale: 'pt-BR' });
    await page.getByRole('heading', { level: 1, name: 'Hoje' }).waitFor();
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

test('no page complains, or asks another host for anything', () => {
  expect(at.desk.complaints).toEqual([]);
});
