const HOUR_MS = 3_600_000;
/** No calendar day has been longer than 25 hours. */
const BEYOND_TODAY_MS = 26 * HOUR_MS;

const saoPaulo = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/**
 * The instant (UNIX milliseconds) at which the next calendar day begins in America/Sao_Paulo. Searched for instead of calculated
 * with an offset: on days when the clocks change, midnight may come an hour earlier or later, or not at all.
 */
export const nextDayStart = (instant: number): number => {
  const today = saoPaulo.format(instant);
  let [before, after] = [instant, instant + BEYOND_TODAY_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (saoPaulo.format(middle) > today) after = middle;
    else before = middle;
  }
  return after;
};
