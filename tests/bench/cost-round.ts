import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServiceProcess } from '../support/service-process.ts';
import { freePort } from '../support/service-process.ts';
import { AppendedPages } from './appended-pages.ts';
import { load } from './load.ts';
import type { Load, Request } from './load.ts';
import { processorSeconds, threadSeconds } from './processor-time.ts';

const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 32);
export const LONGEST_SECONDS = 600;
const [SHOWN_ECHOES, KIB, MIB] = [0.005, 1_024, 1_048_576];

/** Posts each once, so many at a time. */
export const send = (baseUrl: string, requests: readonly Request[], status: number): Promise<Load> => {
  const queue = requests.values();
  const options = { connections: CONNECTIONS, seconds: LONGEST_SECONDS, status };
  return load(baseUrl, () => queue.next().value, options);
};

/** The bare server that costs are counted in, as a process of its own. */
export class Echo {
  readonly #process: ChildProcess;
  readonly #baseUrl: string;

  private constructor(process: ChildProcess, baseUrl: string) {
    this.#process = process;
    this.#baseUrl = baseUrl;
  }

  static async start(): Promise<Echo> {
    const port = await freePort();
    const child = spawn(process.execPath, [new URL('./echo-server.ts', import.meta.url).pathname], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    return new Echo(child, `http://127.0.0.1:${port}`);
  }

  /** Processor time of one request, in seconds. */
  async cost(body: string, count: number): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    const requests = Array.from({ length: count }, () => ({ path: '/echo', headers, body }));
    const from = processorSeconds(this.#process.pid!);
    await send(this.#baseUrl, requests, 200);
    return (processorSeconds(this.#process.pid!) - from) / count;
  }

  stop(): void {
    this.#process.kill();
  }
}

interface Written {
  readonly bytes: number;
  readonly calls: number;
}

/** What a process has written to files and to sockets, see proc_pid_io(5). */
export const writtenBy = (pid: number): Written => {
  const text = readFileSync(`/proc/${pid}/io`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1]);
  return { bytes: field('wchar'), calls: field('syscw') };
};

/** Resident memory in MiB: now, and the most that it has been. */
export const residentMiB = (pid: number): { readonly now: number; readonly most: number } => {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
  return { now: (field('VmRSS') * KIB) / MIB, most: (field('VmHWM') * KIB) / MIB };
};

export interface Round {
  readonly load: Load;
  /** In echoes, for one request. */
  readonly threads: ReadonlyMap<string, number>;
  readonly written: Written;
  readonly pages: ReadonlyMap<string, number>;
}

const each = (counts: ReadonlyMap<string, number>, share: (count: number, name: string) => number) =>
  new Map([...counts].map(([name, count]) => [name, share(count, name)] as const));

interface Measured {
  readonly service: ServiceProcess;
  readonly dataDir: string;
  readonly status: number;
  /** Seconds of an echo. */
  readonly one: number;
  /** Until everything that belongs to the requests is done. */
  readonly settled: () => Promise<unknown>;
}

export const oneRound = async (
  requests: readonly Request[],
  { service, dataDir, status, one, settled }: Measured,
): Promise<Round> => {
  const pid = service.pid!;
  const [threadsBefore, before, pages] = [threadSeconds(pid), writtenBy(pid), new AppendedPages(dataDir)];
  const sent = await send(service.baseUrl, requests, status);
  await settled();
  const after = writtenBy(pid);
  const count = requests.length;
  return {
    load: sent,
    threads: each(threadSeconds(pid), (to, name) => (to - (threadsBefore.get(name) ?? 0)) / count / one),
    written: { bytes: (after.bytes - before.bytes) / count, calls: (after.calls - before.calls) / count },
    pages: each(pages.stop(), (pages) => pages / count),
  };
};

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Means over the rounds by name, the largest first. */
const means = (rounds: readonly ReadonlyMap<string, number>[]) =>
  [...new Set(rounds.flatMap((one) => [...one.keys()]))]
    .map((name) => [name, mean(rounds.map((one) => one.get(name) ?? 0))] as const)
    .sort(([, a], [, b]) => b - a);

const sum = (counts: readonly (readonly [string, number])[]): number =>
  counts.reduce((total, [, count]) => total + count, 0);

/** Of all threads together. */
export const echoesOf = (rounds: readonly Round[]): number =>
  sum(means(rounds.map(({ threads }) => threads)));

export const print = (title: string, rounds: readonly Round[]): void => {
  const threads = means(rounds.map((round) => round.threads));
  const pages = means(rounds.map((round) => round.pages));
  const parts = (all: typeof threads, least: number): string =>
    all
      .filter(([, count]) => count >= least)
      .map(([name, count]) => `${name} ${count.toFixed(2)}`)
      .join(', ');
  const written = rounds.map((round) => round.written);
  console.log(`-- ${title}`);
  console.log(`  echoes        ${sum(threads).toFixed(2).padStart(7)}   (${parts(threads, SHOWN_ECHOES)})`);
  console.log(`  KiB written   ${(mean(written.map(({ bytes }) => bytes)) / KIB).toFixed(1).padStart(7)}`);
  console.log(
    `  write calls   ${mean(written.map(({ calls }) => calls))
      .toFixed(1)
      .padStart(7)}`,
  );
  console.log(`  pages         ${sum(pages).toFixed(2).padStart(7)}   (${parts(pages, SHOWN_ECHOES)})`);
  const [rate, p99] = [mean(rounds.map((r) => r.load.perSecond)), Math.max(...rounds.map((r) => r.load.p99))];
  console.log(
    `  beside it: ${rate.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms over ${CONNECTIONS} connections\n`,
  );
};
