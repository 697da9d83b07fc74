/**
 * Pages of the console over a portfolio whose rows are written straight into the read models.
 * `node tests/bench/console-bench.ts [operations]`
 */
import { randomUUID } from 'node:crypto';
import { timedPages } from '../support/console-pages.ts';

const operations = Number(process.argv[2] ?? 100_000);
const TIMES = 15;

const milliseconds = (value: number): string => `${value.toFixed(0)} ms`.padStart(8);

const spreadOf = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const [best, median, worst] = [sorted[0]!, sorted[Math.floor(TIMES / 2)]!, sorted.at(-1)!];
  return `best ${milliseconds(best)}  median ${milliseconds(median)}  worst ${milliseconds(worst)}`;
};

const fundId = randomUUID();
for (const { path, times, processor, bytes } of await timedPages({ operations, fundId, repeat: TIMES })) {
  const name = path.replace(fundId, 'FUND').padEnd(40);
  process.stdout.write(`${name} ${spreadOf(times)}  processor ${spreadOf(processor)}  ${bytes} bytes\n`);
}
