import type { StatementLine } from '../reconciliation/statement-line.ts';

export const STATEMENT_ENCODINGS = ['utf8', 'latin1', 'utf16le'] as const;

/** How a statement is written. Columns are names of the header line, without regard to case, or numbers from 1. */
export interface StatementFormat {
  readonly dateColumn: string;
  readonly amountColumn: string;
  /** `-` when there is none. */
  readonly referenceColumn: string;
  readonly delimiter: string;
  /** The other of the two may group thousands. */
  readonly decimal: '.' | ',';
  /** `yyyy` or `yy`, `mm` and `dd`, each once, with anything between them. */
  readonly dateFormat: string;
  readonly encoding: (typeof STATEMENT_ENCODINGS)[number];
  readonly header: boolean;
  /** Lines before the header, or before the first movement where there is none. */
  readonly skipLines: number;
}

/** Reads a custodian's statement. */
export interface Statements {
  /** How many times `onChunk` will be called. @throws StatementError when there is no such file */
  chunks(path: string): Promise<number>;
  /**
   * In batches, in the order of the file, not more than a few of them in memory.
   * @throws StatementError naming the file, the line and what is wrong with it
   */
  read(path: string, format: StatementFormat, onChunk?: () => void): AsyncIterable<readonly StatementLine[]>;
}
