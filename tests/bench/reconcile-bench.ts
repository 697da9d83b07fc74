import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  expectedResults,
  fillReadModel,
  measuredCommand,
  reconcileArguments,
  writeStatement,
} from '../support/reconciliation-at-size.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A month of a large fund: time and memory of the command as an operator runs it. Give another number to measure that. */
const payments = Number(process.argv[2] ?? 1_000_000);

const dataDir = temporaryDirectory();
const statement = join(dataDir, 'statement.csv');
await fillReadModel(dataDir, payments);
await writeStatement(statement, payments);
const size = (statSync(statement).size / 1e6).toFixed(0);
console.log(`${payments} notifications against a statement of ${size} MB`);
for (const format of ['json', 'csv'] as const) {
  const { code, out, err, ms, peakBytes } = await measuredCommand(dataDir, [
    ...reconcileArguments(statement),
    ...['-o', format],
  ]);
  console.log(
    `${format}: ${(ms / 1000).toFixed(1)} s, peak ${(peakBytes / 1e6).toFixed(0)} MB, exit ${code} ${err}`,
  );
  if (format !== 'json') continue;
  const { results, rules } = JSON.parse(out) as {
    results: Record<string, { count: number }>;
    rules: object;
  };
  console.log(JSON.stringify(results), JSON.stringify(rules));
  for (const [result, count] of Object.entries(expectedResults(payments)))
    if (results[result]?.count !== count) console.log(`${result}: ${count} expected`);
}
