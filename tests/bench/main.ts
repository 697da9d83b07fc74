import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Measurements, each part in a process of its own: `npm run bench` runs all of them, `npm run bench -- webhooks` one, and
 * `npm run bench -- webhooks latency` only a piece of it. `npm run bench -- --distributed` needs PostgreSQL and Java, `npm run bench --
 * portfolio 6000` a while, `npm run bench -- hour` an hour: none is among all of them.
 */
const PARTS: Readonly<Record<string, string>> = {
  audit: 'audit-bench.ts',
  console: 'console-bench.ts',
  cost: 'cost-bench.ts',
  rebuild: 'rebuild-bench.ts',
  relay: 'relay-bench.ts',
  route: 'route.ts',
  sizes: 'sizes.ts',
  settlements: 'settlement-bench.ts',
  webhooks: 'webhook-bench.ts',
};

const OPTIONAL_PARTS: Readonly<Record<string, string>> = {
  distributed: 'distributed-bench.ts',
  'held-snapshot': 'held-snapshot-bench.ts',
  hour: 'hour-bench.ts',
  portfolio: 'portfolio-cost-bench.ts',
};

const run = (part: string, pieces: readonly string[]): void => {
  const script = { ...PARTS, ...OPTIONAL_PARTS }[part];
  if (script === undefined) throw new Error(`${part}: choose one of ${Object.keys(PARTS).join(', ')}`);
  console.log(`\n== ${part}\n`);
  const flags = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, script), ...pieces];
  const { status } = spawnSync(process.execPath, flags, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

const [asked, ...pieces] = process.argv.slice(2);
if (asked === '--distributed') run('distributed', pieces);
else if (asked === undefined) for (const part of Object.keys(PARTS)) run(part, []);
else run(asked, pieces);
