import type { DecisionRecord } from './events.ts';

/** The part of an event that records the decision behind it. */
export const decided = ({
  decision,
}: {
  readonly decision?: DecisionRecord;
}): { readonly decision?: DecisionRecord } => (decision ? { decision } : {});
