const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** How a duration is written; published. */
export const DURATION = '^[0-9]{1,12}(ms|s|m|h|d)$';
export const DURATION_RULE = 'must be a whole number and a unit, such as 300ms, 30s, 2m, 1h or 30d';

const pattern = new RegExp(DURATION);

/** Milliseconds; undefined for a text that is no duration. A day has 24 hours. */
export const durationOf = (text: string): number | undefined => {
  if (!pattern.test(text)) return undefined;
  const [digits = '', unit = ''] = text.split(/(?<=\d)(?=\D)/);
  return Number(digits) * UNITS[unit as keyof typeof UNITS];
};
