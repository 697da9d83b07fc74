import type { BackupServices, CliServices, Finding, MoveService, MoveTargets } from './cli-services.ts';
import type { OpenConsole, RunningConsole } from './console.ts';

/** Shows how far a long command is. */
export interface Progress {
  /** @param steps default: one */
  advance(steps?: number): void;
  /** Leaves the terminal as it was; called whatever happens. */
  end(): void;
}

export interface CliDependencies {
  open(): Promise<CliServices>;
  /** Opens the old data directory and the engines that it is moved to. Left out where there is nothing to move. */
  readonly openMove?: (targets: MoveTargets) => Promise<MoveService>;
  /** Serves the console, over services of its own. Left out where there is none. */
  readonly openConsole?: (settings: OpenConsole) => Promise<RunningConsole>;
  /** Shows an address in the browser of this machine, where it has one. Never throws. */
  readonly openBrowser?: (address: string) => Promise<void>;
  /** Of the program, as `--version` prints it. */
  readonly version?: string;
  /** Whether standard output is a terminal, and whether it shows colours. Default: neither. */
  readonly terminal?: boolean;
  readonly colour?: boolean;
  /** To standard output. What comes back is awaited before more is written. */
  write(text: string): unknown;
  /** The same for text that is safe to show and may hold colours. Default: `write`. */
  readonly show?: (text: string) => unknown;
  /** To standard error. */
  writeError(text: string): void;
  /** For so many steps; shows nothing outside a terminal. */
  startProgress(total: number): Progress;
  /** The bytes of a file; `-` is standard input, which is also the default. */
  readonly input?: (file: string) => AsyncIterable<Uint8Array>;
  /** What a person at the terminal answers; undefined, or left out, where there is none. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Looks for what is wrong, with or without a service that could be opened. */
  readonly examine?: () => Promise<readonly Finding[]>;
  /** Calls with each key, or first letter of a line, that a person types, until the signal. */
  readonly onKey?: (listener: (key: string) => void, signal: AbortSignal) => void;
  /** Copies of the data, without opening the service. */
  readonly backups?: () => BackupServices;
  /** From the call on, an interruption ends this signal instead of the process. Default: nothing interrupts. */
  readonly untilInterrupted?: () => AbortSignal;
}

/** The reader of the output has gone: no failure, but no reason to go on either. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** A decision that the rules do not allow; the message says why. */
export class DecisionRefusedError extends Error {
  override readonly name = 'DecisionRefusedError';
}

/** The service knows nothing of this id, or its rules say no. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}

/** The command does not fit what this process was given. */
export class WrongUseError extends Error {
  override readonly name = 'WrongUseError';
}

/** What was compared differs. */
export class DifferencesFoundError extends Error {
  override readonly name = 'DifferencesFoundError';
}

/** A command that was understood but could not be done. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError';
}

/**
 * Runs with opened services, closes them whatever happens, and prints each value as one line of JSON as soon as it is there. Text
 * is a line of JSON already.
 */
export const answerLines = async (
  dependencies: CliDependencies,
  work: (services: CliServices) => AsyncIterable<object | string>,
): Promise<void> => {
  const services = await dependencies.open();
  try {
    for await (const line of work(services)) {
      await dependencies.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
    }
  } finally {
    await services.close();
  }
};

/** Runs with opened services, closes them whatever happens, and prints what came out as JSON. */
export const answer = async (
  dependencies: CliDependencies,
  work: (services: CliServices) => Promise<object>,
): Promise<void> => {
  const services = await dependencies.open();
  let result: object;
  try {
    result = await work(services);
  } finally {
    await services.close();
  }
  await dependencies.write(`${JSON.stringify(result)}\n`);
};
