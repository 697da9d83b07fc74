import { Pool } from 'undici';

export interface Request {
  /** Default: POST. */
  readonly method?: 'PATCH';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer;
}

export interface Load {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
  /** How many requests were taken, answered in time or not; default: the count. */
  readonly used?: number;
}

/** Requests over `connections` keep-alive connections for `seconds`; every answer has to have the wanted status. */
export const load = async (
  baseUrl: string,
  next: () => Request | undefined,
  { connections, seconds, status }: { connections: number; seconds: number; status: number },
): Promise<Load> => {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const times: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1_000;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      const request = next();
      if (!request) return;
      const sent = performance.now();
      const response = await pool.request({ method: 'POST', ...request });
      const text = await response.body.text();
      if (response.statusCode !== status) throw new Error(`${request.path}: ${response.statusCode} ${text}`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const elapsed = (performance.now() - start) / 1_000;
  await pool.close();
  times.sort((a, b) => a - b);
  const at = (q: number): number => times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0;
  return { perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99), count: times.length };
};

/** What several rounds say together. */
export const together = (rounds: readonly Load[]): Load => {
  const mean = (pick: (load: Load) => number): number =>
    rounds.reduce((sum, r) => sum + pick(r), 0) / rounds.length;
  return {
    perSecond: mean((r) => r.perSecond),
    p50: mean((r) => r.p50),
    p99: Math.max(...rounds.map((r) => r.p99)),
    count: rounds.reduce((sum, r) => sum + r.count, 0),
  };
};

export const row = (name: string, { perSecond, p50, p99, count }: Load): string =>
  `${name.padEnd(34)} ${perSecond.toFixed(0).padStart(7)}/s   p50 ${p50.toFixed(2).padStart(7)} ms   p99 ${p99.toFixed(2).padStart(7)} ms   (${count})`;
