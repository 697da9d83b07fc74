import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, jest } from '@jest/globals';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { OpenConsole } from '../../infrastructure/cli/command-line.ts';
import { openConsole } from '../../infrastructure/composition/console.ts';
import { readConsoleConfiguration } from '../../infrastructure/composition/console-configuration.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import type { Foundations } from '../../infrastructure/composition/foundations.ts';
import { World } from '../lives/world.ts';

type Json = ReturnType<typeof JSON.parse>;

/** Where the distribution puts it; CHROMIUM names another one. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** For people; git ignores it. */
const PICTURES = join(import.meta.dirname, '..', '..', 'screenshots', 'console');

/** A console as a process of its own would be: over stores that it opened itself, beside the service of a world. */
export class ConsoleBeside {
  readonly #foundations: Foundations;
  readonly #running: Awaited<ReturnType<typeof openConsole>>;

  private constructor(foundations: Foundations, running: Awaited<ReturnType<typeof openConsole>>) {
    this.#foundations = foundations;
    this.#running = running;
  }

  /** @param variables of the console alone */
  static async open(
    world: World,
    settings: Partial<OpenConsole> = {},
    variables: Readonly<Record<string, string>> = {},
  ): Promise<ConsoleBeside> {
    const foundations = await openFoundations(readConfiguration(world.environment), world.logger);
    const parts = partsOf({ ...foundations, clock: world.clock });
    const defaults = {
      host: '127.0.0.1',
      port: 0,
      operator: 'maria.souza',
      readOnly: false,
      idleMs: 1_800_000,
    };
    const desk = readConsoleConfiguration(variables);
    return new ConsoleBeside(foundations, await openConsole(parts, { ...defaults, ...settings }, desk));
  }

  newAddress(used?: () => void): string {
    return this.#running.newAddress(used);
  }

  async close(): Promise<void> {
    await this.#running.close();
    await this.#foundations.close();
  }
}

/** Whatever the browser complained about, or asked of another host. */
export interface Watched {
  readonly page: Page;
  readonly complaints: readonly string[];
}

export class ConsoleBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<ConsoleBrowser> {
    return new ConsoleBrowser(await chromium.launch({ executablePath, args: ['--no-sandbox'] }));
  }

  /** A person who has opened the printed address. English, unless the options say otherwise. @param known other origins that it may lead to */
  async enter(
    console: Pick<ConsoleBeside, 'newAddress'>,
    options: BrowserContextOptions = {},
    known: readonly string[] = [],
  ): Promise<Watched> {
    const address = console.newAddress();
    const { origin } = new URL(address);
    const context = await this.#browser.newContext({
      locale: 'en-GB',
      viewport: { width: 1400, height: 900 },
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complaints: string[] = [];
    page.on('console', (message) => {
      // A page that goes on by itself may be there for long enough to be asked for an icon.
      if (message.location().url.endsWith('/favicon.ico')) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      // The browser's own reader of PDF is made of pages too.
      const own = ['data:', 'blob:', 'chrome:', 'chrome-extension:'].includes(url.protocol);
      if (![origin, ...known].includes(url.origin) && !own) complaints.push(`another host: ${url.href}`);
    });
    await page.goto(address);
    return { page, complaints };
  }

  /** A person whose browser was given this file. */
  async openFile(file: string): Promise<Page> {
    const page = await (await this.#browser.newContext({ locale: 'en-GB' })).newPage();
    await page.goto(pathToFileURL(file).href);
    return page;
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

/** What the tests of a file have: a world, a console beside it, and a person who has entered. */
class Desk {
  world!: World;
  beside!: ConsoleBeside;
  browser!: ConsoleBrowser;
  desk!: Watched;

  /** One more person. */
  enter(options?: BrowserContextOptions): Promise<Watched> {
    return this.browser.enter(this.beside, options);
  }
}

/** For all tests of a file, at a world in which `begin` has happened. */
export const atDesk = (
  begin: (world: World) => Promise<void>,
  {
    environment,
    person,
  }: {
    readonly environment?: () => Promise<Readonly<Record<string, string>>>;
    readonly person?: BrowserContextOptions;
  } = {},
): Desk => {
  const at = new Desk();
  jest.setTimeout(240_000);
  beforeAll(async () => {
    at.world = await World.start(await environment?.());
    await begin(at.world);
    at.beside = await ConsoleBeside.open(at.world);
    at.browser = await ConsoleBrowser.launch();
    at.desk = await at.enter(person);
  }, 300_000);
  afterAll(async () => {
    await at.browser?.close();
    await at.beside?.close();
    await at.world?.stop();
  });
  return at;
};

/** A page with this heading, all of it: what stands below, and what its scripts listen to. */
export const shown = async (page: Page, heading: string | RegExp): Promise<void> => {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.waitForLoadState();
};

/**
 * Presses the button of a form, up to the page that answers, all of it. A form that was typed into asks for its session before it is
 * sent, so what is done right after a click would still be done on the page that is left.
 */
export const send = async (page: Page, button: string): Promise<void> => {
  const answered = page.waitForEvent('load');
  await page.getByRole('button', { name: button }).click();
  await answered;
};

/** Lets an open page look for changes: `after` what it found has been put in place, or `before` that. */
export const followed = (page: Page, when: 'before' | 'after'): Promise<void> =>
  page.evaluate(
    (name) =>
      new Promise<void>((resolve) => {
        const { document, htmx } = globalThis as Json;
        document.addEventListener(name, () => resolve(), { once: true });
        htmx.trigger('#live', 'changed');
      }),
    `htmx:${when}:swap`,
  );

/** What stands along the axis of the values of the first picture, once it is drawn: what is put in place anew is drawn anew. */
export const ticks = async (page: Page): Promise<readonly string[]> => {
  const drawn = await page.waitForFunction(() => {
    const { Chart, document } = globalThis as Json;
    const picture = document.querySelector('canvas[data-picture]');
    const { ticks: all = [] } = (picture && Chart?.getChart(picture)?.scales?.y) ?? {};
    return all.length > 0 && all.map(({ label }: Json) => label.replaceAll('\u00a0', ' '));
  });
  return drawn.jsonValue();
};

/** What axe finds, in short. */
export const barriers = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source);
  const { violations }: Json = await page.evaluate<Json>(() => (globalThis as Json).axe.run());
  return violations.map(({ id, nodes }: Json) => `${id}: ${nodes.map(({ html }: Json) => html).join(' | ')}`);
};

const DESK = 1_400;
const PHONE = 360;
/** What a sheet of A4 that lies has between its margins. */
const PAPER = 1_032;

/** Content that is wider than the window, and tables that would have to be moved to be read. */
const tooWide = (page: Page, width: number): Promise<readonly string[]> =>
  page.evaluate((window) => {
    const { document } = globalThis as Json;
    const { scrollWidth } = document.documentElement;
    const cut = [...document.querySelectorAll('.overflow-auto')]
      .filter((place: Json) => place.scrollWidth > place.clientWidth)
      .map(
        (place: Json) => `${place.scrollWidth} in ${place.clientWidth}: ${place.innerText.split('\n')[0]}`,
      );
    return [...(scrollWidth > window ? [`the page is ${scrollWidth} wide`] : []), ...cut];
  }, width);

/**
 * Pictures of it in both schemes, on a phone and on paper, and what is wrong with them: barriers, a page that has to be moved
 * sideways, a column that is cut at the desk or on paper, and paper with what only a screen has.
 */
export const looked = async (page: Page, name: string): Promise<readonly string[]> => {
  mkdirSync(PICTURES, { recursive: true });
  const wrong: string[] = [];
  const before = page.viewportSize()!;
  const taken = (which: string, fullPage = true) =>
    page.screenshot({ path: join(PICTURES, `${name}-${which}.png`), animations: 'disabled', fullPage });
  const isWrong = (where: string, found: readonly string[]) =>
    wrong.push(...found.map((one) => `${where}: ${one}`));

  await page.setViewportSize({ width: DESK, height: 900 });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await taken(`${colorScheme}-${DESK}`, colorScheme === 'dark');
    isWrong(colorScheme, await barriers(page));
  }
  isWrong(`${DESK}`, await tooWide(page, DESK));
  await page.setViewportSize({ width: PHONE, height: 800 });
  await taken(`phone-${PHONE}`);
  isWrong(
    `${PHONE}`,
    (await tooWide(page, PHONE)).filter((one) => one.startsWith('the page')),
  );
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: PAPER, height: 740 });
  await taken('print');
  isWrong('print', await tooWide(page, PAPER));
  if (await page.getByRole('navigation').first().isVisible()) wrong.push('print: the navigation is there');
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize(before);
  return wrong;
};
