import type { DecisionDeadLetters } from '../../application/ports/decision-source.ts';
import type { WorkMetrics } from './metrics/work-metrics.ts';

/** Counts decisions that were put aside. */
export const observedDeadLetters = (
  letters: DecisionDeadLetters,
  metrics: WorkMetrics | undefined,
): DecisionDeadLetters => ({
  put: async (refused) => {
    await letters.put(refused);
    metrics?.deadLetter(refused.reason.code);
  },
});

export interface Sweep {
  execute(signal: AbortSignal): Promise<number>;
}

/** Counts sweeps and what they marked. */
export const observedSweep = (sweep: Sweep, metrics: WorkMetrics | undefined): Sweep => ({
  execute: async (signal) => {
    try {
      const marked = await sweep.execute(signal);
      metrics?.swept(marked);
      return marked;
    } catch (error) {
      metrics?.sweepFailed();
      throw error;
    }
  },
});
