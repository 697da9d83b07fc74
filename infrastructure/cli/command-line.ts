import type { App } from '../../application/app.ts';
import type { Finding } from '../../application/maintenance/service-status.ts';

export interface OpenConsole {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly operator?: string;
  readonly readOnly: boolean;
  readonly idleMs: number;
}

export interface BackupSummary {
  readonly program_version: string;
  readonly begun_at: string;
  readonly log: { readonly position: number; readonly events: number; readonly streams: number };
  readonly master_key_contained: boolean;
  readonly damaged_events?: readonly { readonly stream: string; readonly revision: number }[];
  readonly files: readonly { readonly size: number }[];
}

export const MOVE_TARGETS = ['eventstore', 'database', 'documents'] as const;
/** Addresses of the engines to move to; the environment says the others. They may hold passwords. */
export type MoveTargets = Partial<Record<(typeof MOVE_TARGETS)[number], string>>;

/** Leaves the terminal as it was when it is disposed of. */
export interface Progress extends Disposable {
  /** @param steps default: one */
  advance(steps?: number): void;
}

export interface CliDependencies {
  /** What the commands call, opened only once a command is known to be well written: see `withService`. */
  open(): Promise<{ readonly app: App; close(): Promise<void> }>;
  /** Opens the old data directory and the engines that it is moved to. */
  openMove(targets: MoveTargets): Promise<{
    steps(): Promise<number>;
    /** @param done called with steps as they are done. Answers what is printed. */
    execute(done: (steps: number) => void): Promise<object>;
    close(): Promise<void>;
  }>;
  /** Serves the console, over services of its own. */
  openConsole(settings: OpenConsole): Promise<{
    /**
     * An address that opens the console once; the one before it opens nothing any more. `used` is called when it has. Where people sign in
     * it is always the same.
     */
    newAddress(used?: () => void): string;
    close(): Promise<void>;
  }>;
  /** Shows an address in the browser of this machine, where it has one, and leaves nothing behind after the signal. Never throws. */
  openBrowser(address: string, until: AbortSignal): Promise<void>;
  /** Of the program, as `--version` prints it. */
  readonly version: string;
  /** Whether standard output is a terminal, and whether it shows colours. */
  readonly terminal: boolean;
  readonly colour: boolean;
  /** To standard output. What comes back is awaited before more is written. */
  write(text: string): unknown;
  writeError(text: string): void;
  /** Shows how far a long command of so many steps is; nothing outside a terminal. */
  startProgress(total: number): Progress;
  /** The bytes of a file; `-` is standard input, which is also the default. */
  readonly input?: (file: string) => AsyncIterable<Uint8Array>;
  /** What a person at the terminal answers; undefined where there is none. */
  ask(question: string): Promise<string | undefined>;
  /** Looks for what is wrong, with or without a service that could be opened. */
  examine(): Promise<readonly Finding[]>;
  /** Calls with each key, or first letter of a line, that a person types, until the signal. */
  onKey(listener: (key: string) => void, signal: AbortSignal): void;
  /** Copies of the data, without opening the service. */
  readonly backups: {
    write(request: {
      readonly to: string;
      readonly withKey: boolean;
      onStep(done: number, total: number): void;
    }): Promise<BackupSummary>;
    restore(request: {
      readonly from: string;
      readonly dataDir: string;
      onStep(done: number, total: number): void;
    }): Promise<BackupSummary>;
  };
  /** From the call on, an interruption ends this signal instead of the process. */
  untilInterrupted(): AbortSignal;
}

/** As commands have them: what they write is made harmless to a terminal. */
export interface CommandDependencies extends CliDependencies {
  /** Writes text that is safe to show and may hold colours. */
  show(text: string): unknown;
}

/** The reader of the output has gone: no failure, but no reason to go on either. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** The service knows nothing of this id, or its rules say no. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}

/** The command does not fit what this process was given. */
export class WrongUseError extends Error {
  override readonly name = 'WrongUseError';
}

export class DifferencesFoundError extends Error {
  override readonly name = 'DifferencesFoundError';
}

/** Opens the service for a piece of work, and closes it whatever happens. */
export const withService = async <Result>(
  dependencies: CliDependencies,
  work: (services: App) => Promise<Result>,
): Promise<Result> => {
  const service = await dependencies.open();
  try {
    return await work(service.app);
  } finally {
    await service.close();
  }
};

/** Goes on only where a person types the word. @throws WrongUseError where nobody can be asked @throws Error for any other answer */
export const confirmed = async (
  { ask }: Pick<CliDependencies, 'ask'>,
  question: string,
  { word, otherwise }: { readonly word: string; readonly otherwise: string },
): Promise<void> => {
  const answered = await ask(`${question} Type ${word} to go on: `);
  if (answered === undefined) throw new WrongUseError('--yes is needed, because nobody can be asked here');
  if (answered.trim() !== word) throw new Error(otherwise);
};

/** What a command changes, or proves, does not end half way because the reader of its output has left. */
export const whileRead = async (write: () => unknown): Promise<void> => {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
  }
};

/** One line of JSON. */
export const tell = ({ write }: Pick<CliDependencies, 'write'>, line: object): Promise<void> =>
  whileRead(() => write(`${JSON.stringify(line)}\n`));
