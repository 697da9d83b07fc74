import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import type { Parser } from 'csv-parse';
import type {
  StatementFormat,
  StatementSource,
  StatementLine,
  StatementProblem,
} from '../../application/reconciliation/statements.ts';
import { StatementError } from '../../application/reconciliation/statements.ts';
import { amountReader, columnsOf, dateReader, isUtf16, lineEndsIn } from './csv-columns.ts';
import type { Columns } from './csv-columns.ts';

const CHUNK_BYTES = 65_536;
const LONGEST_RECORD = 65_536;
/** The decoder's replacement for bytes that are not of the encoding. */
const UNDECODABLE = '\uFFFD';

/** Values are shortened in messages. */
const LONGEST_QUOTED = 80;
const shortened = (text: string): string =>
  text.length > LONGEST_QUOTED ? `${text.slice(0, LONGEST_QUOTED)}...` : text;
const quoted = (text: string): string => `"${shortened(text)}"`;

/** Turns records into lines; the first may be the header. */
class RecordReader {
  readonly #format: StatementFormat;
  readonly #amount: ReturnType<typeof amountReader>;
  readonly #date: ReturnType<typeof dateReader>;
  #columns: Columns | undefined;
  #lines: StatementLine[] = [];

  constructor(format: StatementFormat) {
    this.#format = format;
    this.#amount = amountReader(format.decimal);
    this.#date = dateReader(format.dateFormat);
  }

  get hasBegun(): boolean {
    return this.#columns !== undefined;
  }

  /** @throws StatementError what is wrong, without the place */
  take(record: readonly string[], line: number): void {
    if (!this.#columns) {
      const foreign = record.findIndex((cell) => cell.includes('\0'));
      if (foreign >= 0) throw this.#notOfEncoding('it', foreign);
      this.#columns = columnsOf(record, this.#format);
      if (this.#format.header) return;
    }
    this.#lines.push(this.#lineOf(record, this.#columns, line));
  }

  /** The lines read since the last call. */
  given(): readonly StatementLine[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  #lineOf(record: readonly string[], columns: Columns, line: number): StatementLine {
    const { dateFormat, decimal } = this.#format;
    const [dateText, amountText] = [record[columns.date]!.trim(), record[columns.amount]!.trim()];
    const reference = columns.reference === undefined ? '' : record[columns.reference]!.trim();
    const date = this.#date(dateText);
    if (date === undefined)
      throw new StatementError(`${quoted(dateText)} is not a date written as ${dateFormat}`, {
        problem: { kind: 'date', column: columns.date + 1, text: shortened(dateText) },
      });
    const amount = this.#amount(amountText);
    if (amount === undefined)
      throw new StatementError(`${quoted(amountText)} is not an amount with "${decimal}" before its cents`, {
        problem: { kind: 'amount', column: columns.amount + 1, text: shortened(amountText) },
      });
    if (reference.includes(UNDECODABLE)) throw this.#notOfEncoding('its reference', columns.reference!);
    return { line, date, amount, reference };
  }

  #notOfEncoding(what: string, column: number): StatementError {
    const { encoding } = this.#format;
    return new StatementError(`${what} is not ${encoding} text; say with --encoding what it is`, {
      problem: { kind: 'encoding', column: column + 1 },
    });
  }
}

const otherByteOrder = (): StatementError =>
  new StatementError('it is UTF-16 with the higher byte first, which is not read: save it as UTF-8', {
    problem: { kind: 'byte_order' },
  });

const WITHIN = ['quotes', 'a quotation mark stands inside a value'] as const;
const PROBLEMS: Readonly<Record<string, readonly [kind: StatementProblem['kind'], says: string]>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: ['width', 'it has another number of columns than the line before'],
  CSV_QUOTE_NOT_CLOSED: ['quotes', 'a quotation mark is opened and never closed'],
  CSV_INVALID_CLOSING_QUOTE: WITHIN,
  INVALID_OPENING_QUOTE: WITHIN,
  CSV_MAX_RECORD_SIZE: ['too_long', 'the line is too long to be one of a statement'],
};

/** An error with the file and the line in which it occurred. */
const refusal = (name: string, line: number, error: unknown): StatementError => {
  if (error instanceof StatementError)
    return new StatementError(`${name} line ${line}: ${error.message}`, {
      problem: { ...error.problem, line },
    });
  const { message } = error as Error;
  if (!(error instanceof CsvError)) return new StatementError(`${name}: ${message}`, { cause: error });
  const at: unknown = error['lines'];
  const place = typeof at === 'number' ? `${name} line ${at}` : name;
  const [kind, says] = PROBLEMS[error.code] ?? (['other', message] as const);
  return new StatementError(`${place}: ${says}`, {
    cause: error,
    problem: { kind, ...(typeof at === 'number' && { line: at }) },
  });
};

const written = (parser: Parser, chunk: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    parser.write(chunk, (error) => (error ? reject(error) : resolve()));
  });

const ended = (parser: Parser): Promise<void> =>
  new Promise((resolve, reject) => {
    parser.once('end', resolve);
    parser.once('error', reject);
    parser.end();
  });

/** Between two of them others have their turn. */
async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    await setImmediate();
    yield Buffer.from(bytes.subarray(at, at + CHUNK_BYTES));
  }
}

export const chunksOf = async (path: string): Promise<number> => {
  try {
    const { size } = await stat(path);
    return Math.ceil(size / CHUNK_BYTES);
  } catch (error) {
    throw new StatementError(`the statement cannot be read: ${(error as Error).message}`, { cause: error });
  }
};

/** Records of CSV go straight into lines while a chunk is parsed: a million objects on a stream cost more. */
export async function* readStatement(
  source: StatementSource,
  format: StatementFormat,
  onChunk?: () => void,
): AsyncGenerator<readonly StatementLine[]> {
  const name = typeof source === 'string' ? source : source.name;
  const chunks =
    typeof source === 'string'
      ? createReadStream(source, { highWaterMark: CHUNK_BYTES })
      : piecesOf(source.bytes);
  const reader = new RecordReader(format);
  let line = 1;
  const parserFor = (beginning: Buffer): Parser => {
    if (isUtf16(beginning, 0)) throw otherByteOrder();
    const made = parse({
      bom: true,
      delimiter: format.delimiter,
      encoding: format.encoding,
      from_line: format.skipLines + 1,
      max_record_size: LONGEST_RECORD,
      record_delimiter: lineEndsIn(beginning, format.encoding),
      skip_empty_lines: true,
      on_record: (record: readonly string[], context) => {
        line = context.lines;
        reader.take(record, line);
        return null;
      },
    });
    made.on('error', () => undefined);
    return made.resume();
  };
  let parser: Parser | undefined;
  try {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      parser ??= parserFor(chunk);
      await written(parser, chunk);
      onChunk?.();
      yield reader.given();
    }
    if (parser) await ended(parser);
    yield reader.given();
  } catch (error) {
    throw refusal(name, line, error);
  } finally {
    parser?.destroy();
  }
  if (!reader.hasBegun) throw new StatementError(`${name} is empty`, { problem: { kind: 'empty' } });
}
