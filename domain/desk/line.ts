import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Timestamp } from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';

export type DeskWay = 'console' | 'command_line' | 'topic';

type ReadAction = 'viewed' | 'searched' | 'listed' | 'exported' | 'downloaded';
type ChangeAction = 'configured' | 'decided' | 'withdrawn' | 'confirmed';

export type DeskAction = 'signed_in' | 'signed_out' | ReadAction | ChangeAction | 'refused';

/** `failed`: nothing was shown, and no rule says why. */
export type DeskOutcome =
  'done' | 'applied' | 'already_applied' | 'awaiting_confirmation' | 'refused' | 'failed';

/** Who acts, and how they came in. Without sign-in there is a name alone, which nothing proves. */
export interface DeskVisitor {
  readonly way: DeskWay;
  readonly issuer?: string;
  readonly subject?: string;
  readonly name: string;
}

export interface DeskEntry {
  readonly action: DeskAction;
  /** Default: the visitor's. */
  readonly name?: string | undefined;
  readonly outcome?: DeskOutcome;
  readonly reason?: string;
  readonly applicationId?: string;
  readonly fundId?: string;
  readonly code?: string;
  readonly documentId?: string;
  readonly decision?: string;
  readonly decisionId?: string;
  readonly count?: number;
  readonly sum?: Cents;
}

export interface DeskLineWritten extends Omit<DeskEntry, 'outcome' | 'name'>, DeskVisitor {
  readonly type: 'DeskLineWritten';
  readonly at: Timestamp;
  readonly outcome: DeskOutcome;
}

/** From here on the stream may have lines of this day: said before the first of them. */
interface DeskDayBegun {
  readonly type: 'DeskDayBegun';
  readonly stream: string;
  readonly day: CalendarDate;
  readonly begunAt: Timestamp;
}

export type DeskEvent = DeskLineWritten | DeskDayBegun;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CODE = /^[a-z][a-z0-9_]{0,63}$/;

const only = <Fields extends object>(
  fields: Fields,
  isRight: (value: unknown) => boolean = () => true,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && isRight(value))) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };

const isId = (value: unknown): boolean => UUID.test(value as string);
const isCode = (value: unknown): boolean => CODE.test(value as string);

/**
 * The line of an entry. What came in from outside stands in it only where it has the form of an id, or belongs to an operation that
 * exists: anything else is text that somebody typed, and may name a borrower.
 * @param known the operation of the entry exists, and this is its fund, where that could be told
 */
export const deskLine = (
  { way, issuer, subject, ...visitor }: DeskVisitor,
  entry: DeskEntry,
  { at, known }: { readonly at: Timestamp; readonly known?: { readonly fundId?: string } | undefined },
): DeskLineWritten => {
  const {
    action,
    name = visitor.name,
    outcome = 'done',
    applicationId,
    code,
    decisionId,
    count,
    sum,
  } = entry;
  const usedUp =
    outcome === 'applied' || outcome === 'already_applied' || outcome === 'awaiting_confirmation';
  return {
    ...{ type: 'DeskLineWritten', at, way, name, action, outcome },
    ...only({ issuer, subject, count, sum }),
    ...only({ reason: entry.reason, decision: entry.decision }, isCode),
    ...(known ? only({ applicationId, code }) : only({ applicationId }, isId)),
    ...only({ fundId: entry.fundId ?? known?.fundId, documentId: entry.documentId }, isId),
    ...(usedUp ? only({ decisionId }) : only({ decisionId }, isId)),
  };
};
