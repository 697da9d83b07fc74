/** A command on its way to its operation. */
export interface WatchedCommand {
  readonly stream: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId?: string;
}

/** The part of a command's result that a watch looks at. */
export interface WatchedResult {
  readonly replayed: boolean;
  readonly events?: readonly unknown[];
}

/** Follows each command from its arrival to its outcome. Never fails, and passes on whatever the work does. */
export interface CommandWatch {
  run<Result extends WatchedResult>(command: WatchedCommand, work: () => Promise<Result>): Promise<Result>;
}

export const UNWATCHED_COMMANDS: CommandWatch = { run: (_, work) => work() };
