import { fillPortfolio } from '../support/portfolio-at-size.ts';
import { FUND, measuredCommand } from '../support/reconciliation-at-size.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The position of a fund of a hundred thousand operations, as an operator asks for it. */
const operations = Number(process.argv[2] ?? 100_000);

const dataDir = temporaryDirectory();
await fillPortfolio(dataDir, FUND, operations);
for (const date of ['2026-03-01', '2026-06-20', '2027-01-31']) {
  const args = ['portfolio', '--fund', FUND, '--as-of', date, '-o', 'json'];
  const { out, ms, peakBytes, err } = await measuredCommand(dataDir, args);
  const { operations: held, open } = JSON.parse(out) as { operations: number; open: object };
  console.log(
    `${date}: ${held} operations in ${(ms / 1000).toFixed(1)} s, peak ${(peakBytes / 1e6).toFixed(0)} MB ${err}`,
    JSON.stringify(open),
  );
}
