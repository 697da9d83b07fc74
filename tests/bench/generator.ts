import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from './load.ts';
import type { Load } from './load.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

export interface Bodies {
  readonly baseUrl: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Each is posted once, in this order; the same one again and again when there is only one. */
  readonly bodies: readonly string[];
}

interface Generator {
  readonly name: string;
  /** Posts for so many seconds, or until the bodies are used up. @throws Error for any answer but 200 */
  run(what: Bodies, connections: number, seconds: number): Promise<Load>;
}

const SCRIPT = `
local bodies = {}
for line in io.lines(os.getenv("BENCH_BODIES")) do bodies[#bodies + 1] = line end
local repeated = #bodies == 1
wrk.method = "POST"
for line in io.lines(os.getenv("BENCH_HEADERS")) do
  local name, value = line:match("^(.-): (.*)$")
  wrk.headers[name] = value
end
next_body = 0
function request()
  if repeated then return wrk.format(nil, nil, nil, bodies[1]) end
  next_body = next_body + 1
  if next_body > #bodies then wrk.thread:stop() end
  return wrk.format(nil, nil, nil, bodies[math.min(next_body, #bodies)])
end
local thread
function setup(t) thread = t end
function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %f %f %d\\n", summary.requests, summary.duration, summary.errors.status
    + summary.errors.connect + summary.errors.read + summary.errors.timeout, latency:percentile(50), latency:percentile(99),
    thread:get("next_body")))
end
`;

/** Costs a tenth of a core where a generator in JavaScript takes a whole one. */
const wrk: Generator = {
  name: 'wrk -t1',
  run: async ({ baseUrl, path, headers, bodies }, connections, seconds) => {
    const directory = temporaryDirectory();
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const env = {
      ...process.env,
      BENCH_BODIES: file('bodies', bodies.join('\n')),
      BENCH_HEADERS: file('headers', lines.join('\n')),
    };
    const script = file('script.lua', SCRIPT);
    const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, `${baseUrl}${path}`];
    const { stdout } = await promisify(execFile)('wrk', flags, { env });
    const found = /RESULT (\d+) (\d+) (\d+) (\S+) (\S+) (\d+)/.exec(stdout);
    if (!found) throw new Error(stdout);
    const [count, microseconds, failed, p50, p99, used] = found.slice(1).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    if (failed > 0) throw new Error(`${failed} of ${count} requests failed`);
    return {
      count,
      used,
      perSecond: (count / microseconds) * 1e6,
      p50: p50 / 1_000,
      p99: p99 / 1_000,
    };
  },
};

const own: Generator = {
  name: 'undici in this process',
  run: async ({ baseUrl, path, headers, bodies }, connections, seconds) => {
    let used = 0;
    const next = () => {
      const body = bodies.length === 1 ? bodies[0] : bodies[used];
      used += 1;
      return body === undefined ? undefined : { path, headers: { ...headers }, body };
    };
    const cpu = process.cpuUsage();
    const result = await load(baseUrl, next, { connections, seconds, status: 200 });
    const { user, system } = process.cpuUsage(cpu);
    console.log(
      `  (the generator itself took ${((user + system) / 1e6 / seconds).toFixed(2)} of a core meanwhile)`,
    );
    return { ...result, used };
  },
};

export const generator: Generator = spawnSync('wrk', ['--version']).error ? own : wrk;
