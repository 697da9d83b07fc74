import type { FourEyes } from '../../../../domain/fund/four-eyes.ts';
import { amount } from '../../format.ts';
import type { Language } from '../../language.ts';
import { AWAITING_TEXTS } from './texts.ts';

/** Which decisions need two people, from which value on, and what proves it. */
export const ruleText = ({ decisions, evidence }: FourEyes, language: Language): string => {
  const texts = AWAITING_TEXTS[language];
  if (decisions.length === 0) return '–';
  const named = decisions.map(({ decision, from }) => `${texts.decisions[decision]} ≥ ${amount(from)}`);
  return `${named.join(', ')} (${texts.evidences[evidence]})`;
};
