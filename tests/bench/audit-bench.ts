/**
 * Verifies a log of so many events as an operator does, or with `streams` of so many operations of one or two events each, on the embedded
 * default, and with `eventstoredb` on the stand-in as well, as a process of its own.
 * `node tests/bench/audit-bench.ts [number] [streams] [eventstoredb]`
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fillStandIn } from '../support/eventstoredb/fill-log.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { fillHistory } from '../support/history-at-size.ts';
import { FUND, measuredCommand } from '../support/reconciliation-at-size.ts';
import { serviceDirectory } from './service-directory.ts';

const words = process.argv.slice(2);
const wanted = Number(words.find((word) => /^\d+$/.test(word)) ?? 100_000);
const dataDir = await serviceDirectory('receivables-audit-');
const verify = ['audit', 'verify', '-o', 'json'];

/** The first one also brings the read models up to date, which is not what is measured. Answers the rate of the last. */
const measure = async (
  engine: string,
  events: number,
  environment: Readonly<Record<string, string>>,
): Promise<number> => {
  let rate = 0;
  for (const what of ['read models built', 'verified', 'verified again']) {
    const run = await measuredCommand(dataDir, verify, environment);
    const { code, out, ms, err } = run;
    if (code !== 0) throw new Error(`audit verify ended with ${code}: ${err}${out.slice(0, 2_000)}`);
    rate = Math.round(events / (ms / 1000));
    const [peak, temporary] = [run.peakBytes, run.peakTemporaryBytes].map((bytes) =>
      (bytes / 1e6).toFixed(0),
    );
    const time = (ms / 1000).toFixed(1);
    const memory = `peak ${peak} MB, temporary files ${temporary} MB`;
    console.log(`${engine}, ${what}: ${events} events in ${time} s, ${rate}/s, ${memory} ${err}${out}`);
  }
  return rate;
};

try {
  const events = fillHistory(dataDir, FUND, wanted, words.includes('streams') ? 'streams' : 'events');
  const embedded = await measure('embedded', events, {});
  if (words.includes('eventstoredb')) {
    const standInDir = join(dataDir, 'stand-in');
    mkdirSync(standInDir);
    fillStandIn(dataDir, standInDir);
    for (const file of readdirSync(dataDir))
      if (/^(?:read-model|events\.db)/.test(file)) rmSync(join(dataDir, file));
    const server = await StandInProcess.start(standInDir);
    try {
      const there = await measure('EventStoreDB', events, { EVENTSTORE_URL: server.url });
      console.log(`EventStoreDB at ${(there / embedded).toFixed(2)} of the embedded speed`);
    } finally {
      await server.kill();
    }
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
