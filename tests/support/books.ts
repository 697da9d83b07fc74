import type { LoanEvent } from '../../domain/loan/index.ts';

/** Everything that may be wrong with the story of one operation, in words; nothing when its books are whole. */
export const defectsOf = (events: readonly LoanEvent[]): readonly string[] => [
  ...endingDefects(events),
  ...reservationDefects(events),
  ...closingDefects(events),
  ...balanceDefects(events),
];

const ENDINGS: ReadonlySet<string> = new Set(['LoanFullySettled', 'RepurchaseRequested', 'LoanRenegotiated']);
const AFTER_AN_ENDING: ReadonlySet<string> = new Set([
  'RepurchaseCompleted',
  'LoanRenegotiationCompleted',
  'DocumentsAdded',
]);

const endingDefects = (events: readonly LoanEvent[]): readonly string[] => {
  const end = events.findIndex(({ type }) => ENDINGS.has(type));
  if (end < 0) return [];
  return events
    .slice(end + 1)
    .flatMap(({ type }) => (AFTER_AN_ENDING.has(type) ? [] : [`${type} after the end`]));
};

/** While a renegotiation holds the operation, nothing but its own step may follow. */
const reservationDefects = (events: readonly LoanEvent[]): readonly string[] =>
  events.flatMap(({ type }, i) => {
    if (type !== 'LoanReserved') return [];
    const next = events[i + 1]?.type;
    const ended =
      next === 'LoanReservationReleased' || next === 'LoanRenegotiated' || next === 'LoanReceived';
    return ended ? [] : [`a reservation is followed by ${next ?? 'nothing'}`];
  });

const closingDefects = (events: readonly LoanEvent[]): readonly string[] => {
  const closed = events.flatMap((event) => {
    if (event.type === 'InstallmentSettled') return [event.installmentCode];
    return event.type === 'PrepaymentProcessed' ? event.settledInstallments : [];
  });
  const total = events.flatMap((event) => (event.type === 'LoanReceived' ? event.installments : [])).length;
  const settled = events.some(({ type }) => type === 'LoanFullySettled');
  return [
    ...closed.filter((code, i) => closed.indexOf(code) !== i).map((code) => `${code} closed twice`),
    ...(settled && closed.length !== total ? [`settled with ${closed.length} of ${total} closed`] : []),
    ...(!settled && total > 0 && closed.length === total ? ['all are closed and it is not settled'] : []),
  ];
};

/** Money that came in, by the events alone. */
export const moneyIn = (events: readonly LoanEvent[]): number =>
  events.reduce((sum, event) => {
    if (event.type === 'InstallmentSettled') return sum + event.settledValue;
    return event.type === 'PrepaymentProcessed' ? sum + event.prepaymentValue - event.excessValue : sum;
  }, 0);

const balanceDefects = (events: readonly LoanEvent[]): readonly string[] =>
  events.flatMap((event, i) => {
    if (event.type === 'LoanFullySettled') {
      const total = moneyIn(events.slice(0, i));
      return event.totalReceived === total ? [] : [`total ${event.totalReceived}, received ${total}`];
    }
    if (event.type !== 'PrepaymentProcessed') return [];
    const { payoffValue, prepaymentValue, excessValue, remainingBalance } = event;
    return payoffValue + excessValue === prepaymentValue + remainingBalance
      ? []
      : ['a prepayment lost money'];
  });
