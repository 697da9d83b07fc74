import type { WorkerOptions } from 'node:worker_threads';

/** In MiB. The main thread's are on the command line of the service, because no program can set its own. */
export const HEAPS = {
  main: { young: 48, old: 384 },
  background: { young: 48, old: 320 },
  writer: { young: 12, old: 160 },
  yaml: { young: 48, old: 256 },
  guides: { young: 48, old: 256 },
} as const;

/** A new generation is three semi-spaces. */
export const MAIN_HEAP_FLAGS: readonly string[] = [
  `--max-semi-space-size=${HEAPS.main.young / 3}`,
  `--max-old-space-size=${HEAPS.main.old}`,
];

/** Of a thread that is given a heap of a stated size. */
export const threadOptions = (name: string, { young, old }: (typeof HEAPS)[keyof typeof HEAPS]) =>
  ({
    name,
    // Not the flags of the process: a thread refuses those that concern memory or the whole process.
    execArgv: ['--disable-warning=ExperimentalWarning', '--disable-warning=TimeoutNegativeWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: young, maxOldGenerationSizeMb: old },
  }) satisfies WorkerOptions;
