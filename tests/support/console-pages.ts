import { randomUUID } from 'node:crypto';
import { MovableClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { openConsole } from '../../infrastructure/composition/console.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { readConsoleConfiguration } from '../../infrastructure/composition/console-configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import type { Parts } from '../../infrastructure/composition/parts.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { PAGES } from '../../infrastructure/console/pages/all.ts';
import { APPLICATION, fillForConsole, shareAmongFunds } from './console-at-size.ts';
import { Agent } from './openid/agent.ts';
import { CLIENT, TestProvider } from './openid/test-provider.ts';
import { RecordingLogger } from './recording-logger.ts';
import { freePort } from './service-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface TimedPage {
  readonly path: string;
  /** Milliseconds, one a time. */
  readonly times: readonly number[];
  /** Milliseconds of processor time of the console and its client, one a time: what else runs on the machine does not count. */
  readonly processor: readonly number[];
  readonly bytes: number;
}

/** Lists with the filters by which people look at them. */
const more = (fundId: string): readonly string[] => [
  `/decisions?fund=${fundId}`,
  '/decisions?status=repurchase_pending',
  `/decisions?fund=${fundId}&status=term_signed`,
  '/decisions/waiting',
  `/decisions/${APPLICATION}/OP-0000002/exposure`,
  '/operations?code=7-',
  `/operations?code=nowhere&fund=${fundId}&status=active`,
  `/operations?overdue=true&fund=${fundId}`,
  '/operations?overdue=true&sort=-overdue_value',
  `/operations?sort=code&fund=${fundId}`,
  `/portfolio?fund=${fundId}`,
  '/today/waiting',
  '/today/money',
  '/today/overdue',
  '/today/awaiting',
  '/today/service',
];

type Ask = (path: string) => Promise<{ readonly status: number; readonly bytes: number }>;

/** Every page of the navigation, asked for several times; what a role does not open is left out. */
const timesOf = async (
  ask: Ask,
  { fundId, repeat }: Pick<Filling, 'fundId' | 'repeat'>,
): Promise<readonly TimedPage[]> => {
  const pages: TimedPage[] = [];
  const paths = PAGES.filter(({ hidden }) => hidden !== true).map(({ path }) => path);
  for (const path of [...paths, ...more(fundId)]) {
    const times: number[] = [];
    const processor: number[] = [];
    let [bytes, status] = [0, 200];
    for (let i = 0; i < repeat && status === 200; i += 1) {
      const [begun, spent] = [performance.now(), process.cpuUsage()];
      ({ bytes, status } = await ask(path));
      times.push(performance.now() - begun);
      const { user, system } = process.cpuUsage(spent);
      processor.push((user + system) / 1_000);
    }
    if (status === 200) pages.push({ path, times, processor, bytes });
    else if (status !== FORBIDDEN) throw new Error(`${path}: ${status}`);
  }
  return pages;
};

interface Filling {
  readonly operations: number;
  readonly fundId: string;
  readonly repeat: number;
}

const FORBIDDEN = 403;
const SETTINGS = { host: '127.0.0.1', readOnly: true, idleMs: 3_600_000 };

/** Read models with so many operations, opened as a console beside the service does, on the clock of this machine. */
const opened = async <Result>(
  { operations, fundId }: Filling,
  fill: (dataDir: string) => Promise<void>,
  work: (parts: Parts) => Promise<Result>,
): Promise<Result> => {
  const directory = temporaryDirectory();
  const today = new MovableClock(() => Date.now()).today();
  await fillForConsole(directory, { fundId, today, operations });
  await fill(directory);
  const environment = { DATA_DIR: directory, METRICS_PORT: 'off' };
  const foundations = await openFoundations(readConfiguration(environment), new RecordingLogger());
  try {
    return await work(partsOf(foundations));
  } finally {
    await foundations.close();
  }
};

/** As whoever has the printed address sees them, over one fund. */
export const timedPages = (filling: Filling): Promise<readonly TimedPage[]> =>
  opened(
    filling,
    () => Promise.resolve(),
    async (parts) => {
      const console = await openConsole(parts, { ...SETTINGS, port: 0, operator: 'bench' });
      try {
        const address = console.newAddress();
        const { headers } = await fetch(address, { redirect: 'manual' });
        const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
        const ask: Ask = async (path) => {
          const answer = await fetch(new URL(path, address), { headers: { cookie } });
          return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
        };
        return await timesOf(ask, filling);
      } finally {
        await console.close();
      }
    },
  );

/** As people see them who have signed in, each with one role, where the operations are of three funds. @param roles as the setting has them */
export const timedPagesOf = (
  filling: Filling,
  roles: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, readonly TimedPage[]>> => {
  const others = [randomUUID(), randomUUID()] as const;
  return opened(
    filling,
    (dataDir) => shareAmongFunds(dataDir, others),
    async (parts) => {
      await parts.clients.create({ name: 'others', fundIds: others, rateLimitMultiplier: 1 });
      const port = await freePort();
      const origin = `http://localhost:${port}`;
      const provider = await TestProvider.open([origin]);
      const variables = {
        ...{ CONSOLE_PUBLIC_URL: origin, CONSOLE_OIDC_ISSUER: provider.issuer },
        ...{ CONSOLE_OIDC_CLIENT_ID: CLIENT.id, CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret },
        CONSOLE_OIDC_ROLES: Object.entries(roles)
          .map(([login, role]) => role.replace(/@|$/, `=${login}$&`))
          .join(),
      };
      const console = await openConsole(parts, { ...SETTINGS, port }, readConsoleConfiguration(variables));
      try {
        const timed = new Map<string, readonly TimedPage[]>();
        for (const login of Object.keys(roles)) {
          provider.people.set(login, { name: login, roles: [login] });
          provider.next = login;
          const agent = new Agent();
          await agent.visit(`${origin}/session/start`);
          const ask: Ask = async (path) => {
            const { status, text } = await agent.ask(`${origin}${path}`);
            return { status, bytes: Buffer.byteLength(text) };
          };
          timed.set(login, await timesOf(ask, filling));
        }
        return timed;
      } finally {
        await console.close();
        await provider.close();
      }
    },
  );
};
