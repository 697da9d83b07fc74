import { relative } from 'node:path';

/** npm needs a few; whoever sends a second signal takes longer. */
const HANDED_ON_WITHIN_MS = 100;

interface Interruptions {
  readonly first: (signal: NodeJS.Signals) => void;
  /** For each one after that. */
  readonly again: (signal: NodeJS.Signals) => void;
}

interface Around {
  readonly program?: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly signals?: NodeJS.EventEmitter;
  readonly now?: () => number;
}

/** Whether it is a script of npm that runs this program, and no process in between. */
const belowNpm = ({ npm_lifecycle_script: script }: NodeJS.ProcessEnv, program: string): boolean =>
  script?.includes(relative(process.cwd(), program)) ?? false;

/**
 * SIGINT and SIGTERM. npm hands on what it gets, so below it a signal to a whole group of processes, such as Ctrl-C, comes twice: that is
 * one all the same.
 */
export const onInterruption = (
  { first, again }: Interruptions,
  {
    program = process.argv[1]!,
    environment = process.env,
    signals = process,
    now = () => performance.now(),
  }: Around = {},
): void => {
  let firstAt: number | undefined;
  let handedOn = !belowNpm(environment, program);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = now();
      return first(signal);
    }
    if (!handedOn && now() - firstAt < HANDED_ON_WITHIN_MS) {
      handedOn = true;
      return;
    }
    again(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) signals.on(signal, onSignal);
};
