import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

export const STATEMENT_ENCODINGS = ['utf8', 'latin1', 'utf16le'] as const;
export const DELIMITERS = [';', ',', '\t', '|'] as const;
export const DATE_FORMATS = [
  'dd/mm/yyyy',
  'yyyy-mm-dd',
  'dd/mm/yy',
  'dd-mm-yyyy',
  'dd.mm.yyyy',
  'yyyymmdd',
  'mm/dd/yyyy',
] as const;
export const MOST_SKIPPED_LINES = 1_000;

/** How a statement is written. Columns are names of the header line, without regard to case, or numbers from 1. */
export interface StatementFormat {
  readonly dateColumn: string;
  readonly amountColumn: string;
  /** `-` when there is none. */
  readonly referenceColumn: string;
  readonly delimiter: string;
  /** Decimal separator; the one of the two that is not chosen may group thousands. */
  readonly decimal: '.' | ',';
  /** `yyyy` or `yy`, `mm` and `dd`, each once, with anything between them. */
  readonly dateFormat: string;
  readonly encoding: (typeof STATEMENT_ENCODINGS)[number];
  readonly header: boolean;
  /** Lines before the header, or before the first movement where there is none. */
  readonly skipLines: number;
}

export type StatementLayout = Pick<StatementFormat, 'encoding' | 'delimiter' | 'skipLines'>;

export interface StatementPreview {
  readonly format: StatementFormat;
  /** From the header on, where there is one; not all of equal length in a file that is broken. */
  readonly records: readonly (readonly string[])[];
  /** What stands in the lines before that: of whom and of which days it is, perhaps. */
  readonly above: string;
}

export interface StatementLine {
  readonly line: number;
  readonly date: CalendarDate;
  /** Integer cents; below zero when money went out. */
  readonly amount: number;
  /** As it stands in the file, without spaces around it; may be empty. */
  readonly reference: string;
}

export interface StatementProblem {
  readonly kind:
    | 'date'
    | 'amount'
    | 'encoding'
    | 'byte_order'
    | 'width'
    | 'quotes'
    | 'too_long'
    | 'empty'
    | 'no_column'
    | 'same_titles'
    | 'other';
  /** Of the file, counted from 1. */
  readonly line?: number;
  /** Counted from 1. */
  readonly column?: number;
  readonly text?: string;
}

/** The file cannot be read as a statement. Nothing was compared. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly problem: StatementProblem;

  constructor(message: string, options: ErrorOptions & { readonly problem?: StatementProblem } = {}) {
    super(message, options);
    this.problem = options.problem ?? { kind: 'other' };
  }
}

/** The path of a file, or one that is in memory. */
export type StatementSource = string | { readonly name: string; readonly bytes: Uint8Array };

export interface StatementText {
  /** How many times `onChunk` will be called for this file. @throws StatementError when there is no such file */
  readonly chunksOf: (path: string) => Promise<number>;
  /** In batches, in the order of the file. @throws StatementError naming the file, the line and what is wrong with it */
  readonly readStatement: (
    source: StatementSource,
    format: StatementFormat,
    onChunk?: () => void,
  ) => AsyncIterable<readonly StatementLine[]>;
  /** Guesses what is not given. Nothing of it is certain: a person looks at it. */
  readonly previewOf: (bytes: Uint8Array, layout?: StatementLayout) => StatementPreview;
}
