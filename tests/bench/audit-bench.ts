/**
 * Verifies a log of so many events as an operator does, or with `streams` of so many operations of one or two events each, on the embedded
 * default, and with `eventstoredb` on the stand-in as well, as a process of its own. With `killed` an audit that keeps its notes is killed
 * when half of its time is over, and goes on; with `once` there is one audit of each engine, which builds the read models as well; with
 * `profile` one more of the embedded engine says where its time goes, by thread. Processor
 * time is the audit's own: it can be compared on a machine that does other work.
 * `node tests/bench/audit-bench.ts [number] [streams] [eventstoredb] [killed] [once] [profile]`
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fillStandIn } from '../support/eventstoredb/fill-log.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { fillHistory } from '../support/history-at-size.ts';
import { FUND, measuredCommand } from '../support/reconciliation-at-size.ts';
import type { MeasuredRun } from '../support/reconciliation-at-size.ts';
import { printProfiles, profiling } from './profile-summary.ts';
import { serviceDirectory } from './service-directory.ts';

const words = process.argv.slice(2);
const wanted = Number(words.find((word) => /^\d+$/.test(word)) ?? 100_000);
const dataDir = await serviceDirectory();
const isKilled = words.includes('killed');
const verify = ['audit', 'verify', '-o', 'json'];

interface Cost {
  readonly ms: number;
  readonly processorMs: number;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const told = (what: string, events: number, run: MeasuredRun): void => {
  const rate = `${Math.round(events / (run.ms / 1000))}/s`;
  const time = `${seconds(run.ms)}, ${rate}, ${seconds(run.processorMs)} of processor time`;
  const memory = `peak ${megabytes(run.peakBytes)}, temporary files ${megabytes(run.peakTemporaryBytes)}`;
  console.log(`${what}: ${events} events in ${time}, ${memory} ${run.err}${run.out}`);
};

const succeeded = (run: MeasuredRun): MeasuredRun => {
  if (run.code === 0) return run;
  throw new Error(`audit verify ended with ${run.code}: ${run.err}${run.out.slice(0, 2_000)}`);
};

/** With its write-ahead log. */
const sizeOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, one) => sum + (statSync(one, { throwIfNoEntry: false })?.size ?? 0), 0);

/** Killed after half of the time that one took, and resumed: what both cost together beyond it is what was done twice. */
const interrupt = async (
  engine: string,
  { ms, events }: { readonly ms: number; readonly events: number },
  environment: Readonly<Record<string, string>>,
): Promise<void> => {
  const notes = join(dataDir, 'notes.db');
  const resumed = [...verify, '--resume', notes];
  const killed = await measuredCommand(dataDir, resumed, environment, ms / 2);
  console.log(
    `${engine}, killed after ${seconds(killed.ms)}, ${seconds(killed.processorMs)} of processor time, peak ` +
      `${megabytes(killed.peakBytes)}; notes of ${megabytes(sizeOf(notes))}`,
  );
  told(`${engine}, resumed`, events, succeeded(await measuredCommand(dataDir, resumed, environment)));
};

/** The first one also brings the read models up to date, which is not what is measured. Answers what the last cost. */
const measure = async (
  engine: string,
  events: number,
  environment: Readonly<Record<string, string>>,
): Promise<Cost> => {
  let cost: Cost = { ms: 0, processorMs: 0 };
  const again = isKilled ? ['verified'] : ['verified', 'verified again'];
  for (const what of ['read models built', ...(words.includes('once') ? [] : again)]) {
    const run = succeeded(await measuredCommand(dataDir, verify, environment));
    told(`${engine}, ${what}`, events, run);
    cost = run;
  }
  if (isKilled) await interrupt(engine, { ...cost, events }, environment);
  return cost;
};

/** The threads of an audit, the one that took most of the processor first. */
const profiled = async (events: number): Promise<void> => {
  const directory = join(dataDir, 'profiles');
  succeeded(await measuredCommand(dataDir, verify, profiling(directory)));
  printProfiles(directory, events);
};

try {
  const events = fillHistory(dataDir, FUND, wanted, words.includes('streams') ? 'streams' : 'events');
  const embedded = await measure('embedded', events, {});
  if (words.includes('profile')) await profiled(events);
  if (words.includes('eventstoredb')) {
    const standInDir = join(dataDir, 'stand-in');
    mkdirSync(standInDir);
    fillStandIn(dataDir, standInDir);
    for (const file of readdirSync(dataDir))
      if (/^(?:read-model|events\.db)/.test(file)) rmSync(join(dataDir, file));
    const server = await StandInProcess.start(standInDir);
    try {
      const there = await measure('EventStoreDB', events, { EVENTSTORE_URL: server.url });
      const [speed, processor] = [embedded.ms / there.ms, embedded.processorMs / there.processorMs];
      console.log(
        `EventStoreDB at ${speed.toFixed(2)} of the embedded speed, ${processor.toFixed(2)} by processor time`,
      );
    } finally {
      await server.kill();
    }
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
