import type { ShownEvent } from '../../../../application/audit/show-operation.ts';
import type { LoanEvent } from '../../../../domain/loan/events.ts';
import { amount } from '../../format.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

type Grouped = Extract<LoanEvent, { readonly type: 'InstallmentBecameOverdue' | 'InstallmentSettled' }>;

/** From so many on, events of one kind that follow each other are one line. */
const FEWEST: Readonly<Record<Grouped['type'], number>> = {
  InstallmentBecameOverdue: 2,
  InstallmentSettled: 3,
};

const NAMES = inLanguages({
  InstallmentBecameOverdue: ['parcelas vencidas', 'installments overdue'],
  InstallmentSettled: ['parcelas pagas', 'installments paid'],
} satisfies Record<Grouped['type'], Both>);

/** Codes that stand in the line; more are told by their number. */
const MOST_CODES = 6;

const isGrouped = (event: LoanEvent): event is Grouped => Object.hasOwn(FEWEST, event.type);

const belongs = (one: ShownEvent, other: ShownEvent): boolean =>
  isGrouped(one.event) && one.event.type === other.event.type && one.leftOut === other.leftOut;

/** Runs of events, in their order; most are of one. */
export const runsOf = (events: readonly ShownEvent[]): readonly (readonly ShownEvent[])[] => {
  const runs: ShownEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last !== undefined && belongs(last[0]!, event)) last.push(event);
    else runs.push([event]);
  }
  return runs.flatMap((run) => {
    const { event } = run[0]!;
    return isGrouped(event) && run.length >= FEWEST[event.type] ? [run] : run.map((one) => [one]);
  });
};

export const runName = (run: readonly ShownEvent[]): string =>
  `${run.length} ${NAMES[(run[0]!.event as Grouped).type]}`;

/** Which installments, the first of them first, and what came in for them. */
export const runFacts = (run: readonly ShownEvent[]): string => {
  const events = run.map(({ event }) => event as Grouped).toReversed();
  const codes = events.map(({ installmentCode }) => installmentCode);
  const named =
    codes.length > MOST_CODES
      ? `${codes.slice(0, MOST_CODES - 1).join(', ')} … ${codes.at(-1)!}`
      : codes.join(', ');
  const paid = events.flatMap((event) => (event.type === 'InstallmentSettled' ? [event.settledValue] : []));
  return paid.length === 0 ? named : `${named}: ${amount(paid.reduce((sum, value) => sum + value, 0))}`;
};
