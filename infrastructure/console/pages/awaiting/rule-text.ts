import type { FourEyes } from '../../../../domain/fund/four-eyes.ts';
import { amount } from '../../format.ts';
import { texts } from './texts.ts';

/** Which decisions need two people, from which value on, and what proves it. */
export const ruleText = ({ decisions, evidence }: FourEyes): string => {
  if (decisions.length === 0) return '–';
  const named = decisions.map(({ decision, from }) => `${texts.decisions[decision]} ≥ ${amount(from)}`);
  return `${named.join(', ')} (${texts.evidences[evidence]})`;
};
