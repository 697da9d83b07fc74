import type { WorkMetrics } from './metrics/work-metrics.ts';

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
