import { MovableClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { openConsole } from '../../infrastructure/composition/console.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { PAGES } from '../../infrastructure/console/pages/all.ts';
import { fillForConsole } from './console-at-size.ts';
import { RecordingLogger } from './recording-logger.ts';
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

/** Every page of the navigation, asked for several times over so many operations, on the clock of this machine. */
export const timedPages = async ({
  operations,
  fundId,
  repeat,
}: {
  readonly operations: number;
  readonly fundId: string;
  readonly repeat: number;
}): Promise<readonly TimedPage[]> => {
  const directory = await temporaryDirectory();
  const today = new MovableClock(() => Date.now()).today();
  await fillForConsole(directory.path, { fundId, today, operations });
  const environment = { DATA_DIR: directory.path, METRICS_PORT: 'off' };
  const foundations = await openFoundations(readConfiguration(environment), new RecordingLogger());
  const settings = { host: '127.0.0.1', port: 0, operator: 'bench', readOnly: true, idleMs: 3_600_000 };
  const console = await openConsole(partsOf(foundations), settings);
  try {
    const address = console.newAddress();
    const { headers } = await fetch(address, { redirect: 'manual' });
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    const pages: TimedPage[] = [];
    const paths = PAGES.filter(({ hidden }) => hidden !== true).map(({ path }) => path);
    for (const path of [...paths, ...more(fundId)]) {
      const times: number[] = [];
      const processor: number[] = [];
      let bytes = 0;
      for (let i = 0; i < repeat; i += 1) {
        const [begun, spent] = [performance.now(), process.cpuUsage()];
        const answer = await fetch(new URL(path, address), { headers: { cookie } });
        bytes = (await answer.arrayBuffer()).byteLength;
        times.push(performance.now() - begun);
        const { user, system } = process.cpuUsage(spent);
        processor.push((user + system) / 1_000);
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      }
      pages.push({ path, times, processor, bytes });
    }
    return pages;
  } finally {
    await console.close();
    await foundations.engines.close();
    await directory.remove();
  }
};
