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
