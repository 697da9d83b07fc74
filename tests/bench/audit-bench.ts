/** Verifies a log of so many events on the embedded default, as an operator does. `node tests/bench/audit-bench.ts [events]` */
import { rmSync } from 'node:fs';
import { fillHistory } from '../support/history-at-size.ts';
import { FUND, measuredCommand } from '../support/reconciliation-at-size.ts';
import { serviceDirectory } from './service-directory.ts';

const wanted = Number(process.argv[2] ?? 100_000);
const dataDir = await serviceDirectory('receivables-audit-');
const verify = ['audit', 'verify', '-o', 'json'];
try {
  const events = fillHistory(dataDir, FUND, wanted);
  // The first one also brings the read models up to date, which is not what is measured.
  for (const what of ['read models built', 'verified', 'verified again']) {
    const { code, out, ms, peakBytes, err } = await measuredCommand(dataDir, verify);
    if (code !== 0) throw new Error(`audit verify ended with ${code}: ${err}`);
    const rate = Math.round(events / (ms / 1000));
    const peak = (peakBytes / 1e6).toFixed(0);
    console.log(
      `${what}: ${events} events in ${(ms / 1000).toFixed(1)} s, ${rate}/s, peak ${peak} MB ${err}${out.slice(0, 600)}`,
    );
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
