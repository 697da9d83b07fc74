import type { SqlDatabase } from '../sql/sql-database.ts';
import type { ComparisonRequest } from './compare-statement.ts';
import type { Comparison } from './comparison.ts';
import { SqlNotifiedPayments } from './reconciliation-reader.ts';
import type { PaymentPeriod } from './reconciliation-reader.ts';
import { StatementError } from './statements.ts';
import type {
  StatementFormat,
  StatementLayout,
  StatementPreview,
  StatementSource,
  StatementText,
} from './statements.ts';

interface Dependencies {
  readonly database: SqlDatabase;
  /** Resolves when the read model holds everything that was stored before the call. @throws Error when it cannot */
  readonly caughtUp: () => Promise<void>;
  readonly text: () => Promise<StatementText>;
}

type Days = Omit<PaymentPeriod, 'fundId'>;

interface StatementRequest extends Omit<ComparisonRequest, 'statement'> {
  readonly statement: StatementSource;
  readonly format: StatementFormat;
  readonly onChunk?: () => void;
}

export class Reconciliation {
  readonly #deps: Dependencies;
  readonly #notified: SqlNotifiedPayments;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#notified = new SqlNotifiedPayments(dependencies.database);
  }

  /** How a file seems to be written. @param layout how it is cut into columns; a guess where it is not given */
  async preview(bytes: Uint8Array, layout?: StatementLayout): Promise<StatementPreview> {
    return (await this.#deps.text()).previewOf(bytes, layout);
  }

  /** How many chunks a comparison will read of this file. @throws StatementError when there is no such file */
  async chunksOf(path: string): Promise<number> {
    return (await this.#deps.text()).chunksOf(path);
  }

  /** The first and the last day of a statement's movements. @throws StatementError */
  async daysOf(statement: StatementSource, format: StatementFormat): Promise<Days> {
    const { readStatement } = await this.#deps.text();
    let days: Days | undefined;
    for await (const lines of readStatement(statement, format))
      for (const { date } of lines) {
        const { from, to } = (days ??= { from: date, to: date });
        if (date < from || date > to) days = { from: date < from ? date : from, to: date > to ? date : to };
      }
    if (days === undefined)
      throw new StatementError('the statement holds no movement', { problem: { kind: 'empty' } });
    return days;
  }

  /** By its code, the application of each operation of the fund that is named here; none for a code that several applications have. */
  applicationsOf(fundId: string, codes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#notified.applicationsOf(fundId, codes);
  }

  /** With everything that was recorded before the call. @throws StatementError */
  async compare({ statement, format, onChunk, ...request }: StatementRequest): Promise<Comparison> {
    const { compareStatement } = await import('./compare-statement.ts');
    const { readStatement } = await this.#deps.text();
    await this.#deps.caughtUp();
    return compareStatement(this.#notified, {
      ...request,
      statement: readStatement(statement, format, onChunk),
    });
  }
}
