import { tracingChannel } from 'node:diagnostics_channel';
import { UNWATCHED_COMMANDS } from '../../application/ports/observation.ts';
import type { CommandWatch, WatchedCommand, WatchedResult } from '../../application/ports/observation.ts';

/**
 * What it costs to watch a command, in processor time for each: not at all, by a watch that is handed in, by a tracing channel of
 * Node.js with a subscriber. Each counts the outcome.
 */
const ROUNDS = 7;
const COMMANDS = 1_000_000;

const result: WatchedResult = { replayed: false };
const command: WatchedCommand = { stream: 'loan-a.B', actor: 'client', correlationId: 'c' };
const work = async (): Promise<WatchedResult> => result;

let counted = 0;
const watch: CommandWatch = {
  run: async (_, carryOut) => {
    const outcome = await carryOut();
    counted += outcome.replayed ? 0 : 1;
    return outcome;
  },
};
const channel = tracingChannel('receivables.command');
channel.subscribe({
  start: () => undefined,
  end: () => undefined,
  asyncStart: () => undefined,
  asyncEnd: (message: object) =>
    void (counted += (message as { result: WatchedResult }).result.replayed ? 0 : 1),
  error: () => undefined,
});

const WAYS: Readonly<Record<string, () => Promise<WatchedResult>>> = {
  'no watch': () => UNWATCHED_COMMANDS.run(command, work),
  'a watch that is handed in': () => watch.run(command, work),
  'a tracing channel': () => channel.tracePromise<WatchedResult>(work, { ...command }),
};

const best = new Map<string, number>();
for (let round = 0; round < ROUNDS; round++)
  for (const [name, run] of Object.entries(WAYS)) {
    const before = process.cpuUsage();
    for (let i = 0; i < COMMANDS; i++) await run();
    const { user, system } = process.cpuUsage(before);
    best.set(name, Math.min(best.get(name) ?? Infinity, (user + system) / COMMANDS));
  }
for (const [name, us] of best) console.log(`${us.toFixed(3).padStart(8)} us  ${name}`);
console.log(`${counted} counted`);
