import type { Page } from 'playwright-core';
import type { World } from '../lives/world.ts';
import { CLIENT, TestProvider } from '../support/openid/test-provider.ts';
import { freePort } from '../support/service-process.ts';
import { ConsoleBeside, ConsoleBrowser } from './console-browser.ts';
import type { Watched } from './console-browser.ts';

type People = Readonly<Record<string, { readonly name: string; readonly roles: readonly string[] }>>;

/** A console beside a world to which people sign in, their provider, and a browser. */
export class SignInDesk {
  readonly origin: string;
  readonly provider: TestProvider;
  readonly #beside: ConsoleBeside;
  readonly #browser: ConsoleBrowser;

  private constructor(
    origin: string,
    provider: TestProvider,
    { beside, browser }: { readonly beside: ConsoleBeside; readonly browser: ConsoleBrowser },
  ) {
    [this.origin, this.provider, this.#beside, this.#browser] = [origin, provider, beside, browser];
  }

  /** @param people by their login @param roles as the setting has them */
  static async open(world: World, people: People, roles: string): Promise<SignInDesk> {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const provider = await TestProvider.open([origin]);
    for (const [login, person] of Object.entries(people)) provider.people.set(login, person);
    const variables = {
      CONSOLE_PUBLIC_URL: origin,
      CONSOLE_OIDC_ISSUER: provider.issuer,
      CONSOLE_OIDC_CLIENT_ID: CLIENT.id,
      CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret,
      CONSOLE_OIDC_ROLES: roles,
    };
    const beside = await ConsoleBeside.open(world, { port }, variables);
    return new SignInDesk(origin, provider, { beside, browser: await ConsoleBrowser.launch() });
  }

  /** Somebody who has opened the console, and is not signed in. */
  enter(): Promise<Watched> {
    return this.#browser.enter(this.#beside, {}, [this.provider.issuer]);
  }

  /** At the provider, up to the page of the console that follows the one that goes on by itself. */
  async goIn(page: Page, login: string): Promise<void> {
    await page.getByLabel('Login').fill(login);
    await page.getByRole('button', { name: 'Go in' }).click();
    await page.waitForURL((url) => url.origin === this.origin && url.pathname !== '/session/callback');
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.#beside.close();
    await this.provider.close();
  }
}
