import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from './command-line.ts';

const SILENT: Progress = { advance: () => undefined, end: () => undefined };

/** A bar on a terminal; nothing at all in a pipe or a file, where it would be noise. */
export const progressOn =
  (stream: NodeJS.WriteStream) =>
  (total: number): Progress => {
    if (!stream.isTTY || total === 0) return SILENT;
    const bar = new SingleBar(
      { stream, format: '{bar} {percentage}% | {value}/{total} | {eta_formatted} left', hideCursor: true },
      Presets.shades_classic,
    );
    bar.start(total, 0);
    return { advance: (steps = 1) => bar.increment(steps), end: () => bar.stop() };
  };
