import { createReadStream, fstatSync, statSync } from 'node:fs';
import type { CliCommand } from './cli-command.ts';
import { DECISIONS_AT_ONCE } from '../../application/administrator/decisions.ts';
import { readDecision } from '../../application/administrator/read-decision.ts';
import type { App } from '../../application/app.ts';
import { NotAllowedError, WrongUseError, tell, withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { userOfSystem } from './options.ts';
import { fileToGrow, fileToRead, requireApart } from './files.ts';
import { decideInTime, presentAnswer } from './desk-lines.ts';

interface Line {
  /** 1-based. */
  readonly number: number;
  readonly text: string;
}

const LONGEST_LINE = 1_048_576;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The lines of a text as it arrives, blank ones left out: each batch holds what one piece of the input completed, so that a
 * pipe is answered at once. @throws WrongUseError for a line beyond 1 MiB, which would only fill the memory
 */
async function* lineBatches(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  let number = 0;
  const take = (texts: readonly string[]): readonly Line[] =>
    texts
      .map((text) => ({ number: ++number, text: text.replace(number === 1 ? BYTE_ORDER_MARK : '', '') }))
      .filter(({ text }) => text.trim() !== '');
  for await (const piece of input) {
    const texts = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = texts.pop() ?? '';
    const batch = take(texts);
    if (batch.length > 0) yield batch;
    if (rest.length > LONGEST_LINE) throw new WrongUseError(`line ${number + 1} is longer than 1 MiB`);
  }
  const batch = take([rest + decoder.decode()]);
  if (batch.length > 0) yield batch;
}

interface ApplyOptions {
  readonly file: string;
  readonly operator?: string;
  readonly deadLetter?: string;
}

interface Application {
  readonly input: AsyncIterable<Uint8Array>;
  /** Number of decisions, 0 where it cannot be known. */
  readonly total: number;
  readonly options: ApplyOptions;
  readonly dependencies: CliDependencies;
}

const PIPE = '-';
const MOST_SHOWN = 50;

export const addApply = (administrator: CliCommand): void => {
  administrator
    .command('apply')
    .description('carry out decisions from a file or a pipe of JSON lines')
    .requiredOption('--file <path>', 'one decision a line; "-" reads standard input as it comes')
    .option(
      '--dead-letter <path>',
      'where refused ones are added (default: a file in DATA_DIR)',
      fileToGrow('--dead-letter'),
    )
    .deciding()
    .told(
      'Prints one answer a line: {line, decision_id, ..., outcome: applied | already_applied | awaiting_confirmation | refused,\n' +
        'status | reason}. A file with a malformed line is refused as a whole: nothing of it is carried out. Any other refused\n' +
        'decision lies in the dead letter and holds nothing up. The same file may be given again. Exit code 2 for a file with a\n' +
        "malformed line or without any, 3 when a decision was refused. A line that names an operator is recorded as that one's.",
      'administrator apply --file decisions.jsonl',
    )
    .action((options: ApplyOptions) => applyFrom(administrator.dependencies, options));
};

const applyFrom = async (dependencies: CliDependencies, options: ApplyOptions): Promise<void> => {
  const input = (): AsyncIterable<Uint8Array> => (dependencies.input ?? inputOf)(options.file);
  requireApart({
    '--file': options.file === PIPE ? undefined : options.file,
    '--dead-letter': options.deadLetter,
  });
  // A pipe can be read only once, and its decisions want an answer before the next ones are written.
  const pipe = dependencies.input ? options.file === PIPE : isPipe(options.file);
  const total = pipe ? 0 : await requireWellFormed(dependencies, input());
  await withService(dependencies, async (services) => {
    for await (const line of applying(services, { input: input(), total, options, dependencies }))
      await tell(dependencies, line);
  });
};

/** @returns the number of decisions. @throws WrongUseError after naming the malformed lines, and where there is no decision */
const requireWellFormed = async (
  dependencies: CliDependencies,
  input: AsyncIterable<Uint8Array>,
): Promise<number> => {
  let [count, malformed] = [0, 0];
  for await (const { number, text } of linesOf(input)) {
    count += 1;
    const reading = readDecision(text);
    if (reading.kind !== 'malformed') continue;
    malformed += 1;
    if (malformed <= MOST_SHOWN) dependencies.writeError(`line ${number}: ${reading.reason.message}\n`);
  }
  if (malformed > 0)
    throw new WrongUseError(`${malformed} of ${count} decisions are malformed; none was carried out`);
  if (count === 0) throw new WrongUseError('the file holds no decision: write one JSON object a line');
  return count;
};

async function* applying(
  services: App,
  { input, total, options, dependencies }: Application,
): AsyncGenerator<object> {
  const { operator = userOfSystem() } = options;
  const { administrator } = services;
  const deadLetters = administrator.deadLetterFile(options.deadLetter);
  using progress = dependencies.startProgress(total);
  let [count, refused] = [0, 0];
  for await (const lines of partsOf(input)) {
    const received = lines.map(({ number, text }) => ({ text, origin: `line ${number} of ${options.file}` }));
    const answers = await decideInTime(services, operator, () =>
      administrator.process(received, { deadLetters, operator }),
    );
    for (const [i, given] of answers.entries()) {
      count += 1;
      if (given.outcome === 'refused') refused += 1;
      progress.advance();
      yield { line: lines[i]?.number, ...presentAnswer(given) };
    }
  }
  if (refused === 0) return;
  throw new NotAllowedError(`${refused} of ${count} decisions were refused: see ${deadLetters.path}`);
}

/** So is `/dev/stdin`, and what a shell makes of `<(...)`. @throws WrongUseError where nothing of this name can be read */
const isPipe = (file: string): boolean => {
  if (file !== PIPE) return !statSync(fileToRead('--file')(file)).isFile();
  // It would read as an end at once.
  if (fstatSync(0).isDirectory()) throw new WrongUseError('--file - cannot be read: it is a directory');
  return true;
};

const inputOf = (file: string): AsyncIterable<Uint8Array> =>
  file === PIPE ? process.stdin : createReadStream(file);

async function* readable(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  try {
    yield* lineBatches(input);
  } catch (error) {
    if (error instanceof WrongUseError) throw error;
    throw new Error(`cannot read the decisions: ${(error as Error).message}`, { cause: error });
  }
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  for await (const lines of readable(input)) yield* lines;
}

async function* partsOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  for await (const lines of readable(input)) {
    for (let start = 0; start < lines.length; start += DECISIONS_AT_ONCE)
      yield lines.slice(start, start + DECISIONS_AT_ONCE);
  }
}
