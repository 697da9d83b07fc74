/**
 * Pages of the console over a portfolio whose rows are written straight into the read models.
 * `node tests/bench/console-bench.ts [operations]`
 */
import { randomUUID } from 'node:crypto';
import { timedPages } from '../support/console-pages.ts';

const operations = Number(process.argv[2] ?? 100_000);
const TIMES = 15;

const milliseconds = (value: number): string => `${value.toFixed(0)} ms`.padStart(8);

for (const { path, times, bytes } of await timedPages({ operations, fundId: randomUUID(), repeat: TIMES })) {
  const sorted = times.toSorted((a, b) => a - b);
  const [best, median, worst] = [sorted[0]!, sorted[Math.floor(TIMES / 2)]!, sorted.at(-1)!];
  process.stdout.write(
    `${path.padEnd(60)} best ${milliseconds(best)}  median ${milliseconds(median)}  worst ${milliseconds(worst)}  ${bytes} bytes\n`,
  );
}
