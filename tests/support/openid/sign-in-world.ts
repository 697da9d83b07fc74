import { Readable } from 'node:stream';
import { SignIn } from '../../../application/desk/sign-in.ts';
import { DeskSessions } from '../../../application/desk/sessions.ts';
import type { RoleRules } from '../../../application/desk/people.ts';
import { html } from '../../../infrastructure/console/html.ts';
import { tokenField } from '../../../infrastructure/console/forms.ts';
import { action, view } from '../../../infrastructure/console/page.ts';
import type { Page } from '../../../infrastructure/console/page.ts';
import { OpenidProvider } from '../../../infrastructure/openid/openid-provider.ts';
import { ConsoleServer } from '../console-server.ts';
import { ManualClock } from '../manual-clock.ts';
import { openServiceDatabase } from '../sql/temporary-database.ts';
import type { TemporaryDatabase } from '../sql/temporary-database.ts';
import { Agent } from './agent.ts';
import { CLIENT, TestProvider } from './test-provider.ts';
import type { ClientMethod } from './test-provider.ts';

const ROLES: RoleRules = {
  claim: 'realm_access.roles',
  rules: [
    { role: 'maker', value: 'desk' },
    { role: 'checker', value: 'desk-check' },
    { role: 'viewer', value: 'desk', funds: ['3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10'] },
  ],
};
export const MARIA = { name: 'Maria Souza', realm_access: { roles: ['desk', 'other'] } };
/** What the console makes of her. */
export const AS_MARIA = [
  'Maria Souza',
  [{ role: 'maker' }, { role: 'viewer', funds: ['3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10'] }],
];

const PROBE: Page = {
  path: '/',
  title: () => 'Probe',
  live: true,
  routes: [
    view('/', async (visit) => ({
      kind: 'page',
      body: html`<p id="who">${JSON.stringify([visit.operator, visit.person?.grants])}</p>
        ${tokenField(visit)}`,
    })),
    view('/operations/:code', async ({ params }) => ({ kind: 'page', body: params['code'] })),
    action('/act', async ({ operator, fields }) => ({
      kind: 'part',
      body: `${operator} ${fields.get('what')}`,
    })),
  ],
};

interface Settings {
  readonly publicUrl?: string;
  readonly clientSecret?: string | undefined;
  readonly configured?: string;
}

/** A provider, a database of sessions and consoles over it, at a clock that stands still until it is moved. */
export class SignInWorld {
  readonly provider: TestProvider;
  readonly clock = new ManualClock();
  readonly database: TemporaryDatabase;
  readonly sessions: DeskSessions;
  readonly refusals: string[] = [];
  /** What `/file` is. */
  file: AsyncIterable<string> = Readable.from([]);
  readonly origin: string;
  /** The port of the console that stands behind each origin. */
  readonly places = new Map<string, number>();
  console!: ConsoleServer;
  readonly #consoles: ConsoleServer[] = [];
  readonly #method: ClientMethod | undefined;
  readonly #files: Page = {
    ...{ path: '/file', title: PROBE.title, hidden: true },
    routes: [
      view('/file', async () => ({
        ...{ kind: 'file', name: 'rows.csv', mediaType: 'text/csv' },
        content: this.file,
      })),
    ],
  };

  private constructor(
    provider: TestProvider,
    database: TemporaryDatabase,
    { origin, method }: { readonly origin: string; readonly method: ClientMethod | undefined },
  ) {
    this.#method = method;
    this.provider = provider;
    this.database = database;
    this.origin = origin;
    this.sessions = new DeskSessions({
      database: database.database,
      clock: this.clock,
      seal: async (text, context) => Buffer.from(JSON.stringify([context, text])).toString('base64'),
      open: (sealed, context) => {
        const [of, text] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as [string, string];
        if (of !== context) throw new Error(`sealed for ${of}`);
        return text;
      },
      pause: async () => undefined,
    });
  }

  static async open(origin = 'http://localhost:4200', method?: ClientMethod): Promise<SignInWorld> {
    const [provider, database] = await Promise.all([
      TestProvider.open([origin], method),
      openServiceDatabase(),
    ]);
    const world = new SignInWorld(provider, database, { origin, method });
    await world.begin();
    return world;
  }

  /** As if it were opened just now: nobody is signed in, and one console has asked the provider nothing yet. */
  async begin(): Promise<void> {
    const { clock, database, provider } = this;
    clock.set(new Date().toISOString());
    provider.reset();
    provider.people.set('maria', MARIA);
    provider.next = 'maria';
    this.refusals.length = 0;
    this.file = Readable.from([]);
    await Promise.all(this.#consoles.splice(0).map((one) => one.close()));
    const { builder } = database.database;
    await database.database.transaction([{ query: builder.deleteFrom('desk_session').compile() }]);
    this.console = await this.openConsole(this.#method === 'none' ? { clientSecret: undefined } : {});
  }

  /** One more console; people reach the newest. */
  async openConsole({ configured = 'as it is', ...settings }: Settings = {}): Promise<ConsoleServer> {
    const { publicUrl = this.origin } = settings;
    const provider = new OpenidProvider({
      issuer: this.provider.issuer,
      clientId: CLIENT.id,
      clientSecret: 'clientSecret' in settings ? settings.clientSecret : CLIENT.secret,
      redirectUri: `${publicUrl}/session/callback`,
      afterSignOut: `${publicUrl}/session/ended`,
      // Nothing here is slow on purpose.
      patience: 100,
    });
    const signIn = new SignIn({
      ...{ provider, sessions: this.sessions, roles: ROLES, idleMs: 1_800_000, configured },
      onRefused: (reason) => this.refusals.push(reason),
    });
    const opened = await ConsoleServer.open({
      ...{
        settings: { publicUrl },
        pages: [PROBE, this.#files],
        signIn,
        realClock: this.clock,
        liveLookEveryMs: 20,
      },
    });
    this.#consoles.push(opened);
    this.places.set(publicUrl, opened.port);
    return opened;
  }

  /** Somebody with a browser of their own. */
  person(): Agent {
    return new Agent(this.places);
  }

  /** Somebody who has signed in as the provider's next person. */
  async signedIn(): Promise<Agent> {
    const agent = this.person();
    const { status, text } = await agent.visit(`${this.origin}/session/start`);
    if (status !== 200 && status !== 403) throw new Error(`${status}: ${text}`);
    return agent;
  }

  /** What the first page says of who asks for it; the status where it is refused. */
  async who(agent: Agent): Promise<unknown> {
    const { status, text } = await agent.ask(`${this.origin}/`);
    const [, said] = /<p id="who">([^<]*)<\/p>/.exec(text) ?? [];
    return said === undefined ? status : (JSON.parse(said.replaceAll('&quot;', '"')) as unknown);
  }

  async close(): Promise<void> {
    await Promise.all(this.#consoles.map((one) => one.close()));
    await this.provider.close();
    await this.database.close();
  }
}
