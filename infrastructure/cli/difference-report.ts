import { lineByLine } from '../presenting/columns.ts';
import type { Column } from '../presenting/columns.ts';
import type { CliDependencies } from './command-line.ts';
import { deliver, printingOf } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';

interface Wording<Difference, Summary> {
  readonly columns: readonly Column<Difference>[];
  readonly text: (difference: Difference) => string;
  readonly summaryText: (summary: Summary) => string;
  readonly summaryJson: (summary: Summary) => string;
}

/**
 * Each difference as it is found, then the summary, for which CSV has no line. Answers the summary; undefined when the report was not read
 * to its end.
 */
export const deliverDifferences = async <Difference, Summary>(
  differences: AsyncGenerator<Difference, Summary>,
  { columns, text, summaryText, summaryJson }: Wording<Difference, Summary>,
  options: ReportOptions,
  dependencies: CliDependencies,
): Promise<Summary | undefined> => {
  const { format } = printingOf(dependencies, options);
  const lineOf = format === 'table' ? text : lineByLine(columns, { format, colour: false });
  let summary: Summary | undefined;
  async function* lines(): AsyncGenerator<string> {
    try {
      for (;;) {
        const next = await differences.next();
        if (next.done) {
          summary = next.value;
          break;
        }
        yield lineOf(next.value);
      }
      if (format === 'csv') dependencies.writeError(summaryText(summary));
      else yield format === 'json' ? summaryJson(summary) : summaryText(summary);
    } finally {
      await differences.return(undefined as never);
    }
  }
  await deliver(dependencies, options, lines);
  return summary;
};
