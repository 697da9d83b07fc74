import type { Book } from './book.ts';
import type { Decision, Outcome } from './decision-rule.ts';

/** From which value a fund asks two people for a decision, in cents. */
export type Covered = ReadonlyMap<Decision['decision'], number>;
/** What a second person, or the first one, says of what awaits. */
export interface SettleAwaiting {
  readonly second: 'confirm' | 'withdraw';
  readonly first: string;
  readonly by: string;
}

interface First {
  readonly decision: Decision;
  readonly by: string;
  readonly value: number;
  readonly book: Book;
  /** How much had happened to the operation by then. */
  readonly after: number;
  standing: 'awaiting' | 'withdrawn' | 'done';
}

interface Proposal {
  readonly fund: string;
  readonly by: string;
  readonly covered: Covered;
  standing: 'awaiting' | 'withdrawn' | 'done' | 'void';
}

/** Whatever happens to an operation but that an installment becomes overdue. */
const happened = ({ history, told, papers, forgotten }: Book): number =>
  history.length + told.length + papers.length + (forgotten ? 1 : 0);

const valueOf = (book: Book, { decision, value }: Decision): number => {
  if (decision === 'disburse') return value!;
  return decision === 'process_repurchase' ? book.repurchase!.value : book.price;
};

const asksForLess = (before: Covered, after: Covered): boolean =>
  [...before].some(([decision, from]) => (after.get(decision) ?? Infinity) > from);

const same = (one: Covered, other: Covered): boolean => !asksForLess(one, other) && !asksForLess(other, one);
const samePerson = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** What funds ask two people for, what the first of them decided, and what became of that. */
export class TwoPeople {
  readonly #rules = new Map<string, Covered>();
  readonly #firsts = new Map<string, First>();
  readonly #proposals = new Map<string, Proposal>();

  get anyRule(): boolean {
    return this.#rules.size > 0;
  }

  /** Those that can be confirmed, and all that ever could. */
  ids(only: 'awaiting' | 'all'): readonly string[] {
    const firsts = [...this.#firsts].filter(([, one]) => only === 'all' || this.#awaits(one));
    const proposals = [...this.#proposals].filter(
      ([, { standing }]) => only === 'all' || standing === 'awaiting',
    );
    return [...firsts, ...proposals].map(([id]) => id);
  }

  /** As they are listed. */
  listed(fund: string): readonly object[] {
    const firsts = [...this.#firsts].filter(([, one]) => one.book.fund === fund && this.#awaits(one));
    const proposals = [...this.#proposals].filter(
      ([, one]) => one.fund === fund && one.standing === 'awaiting',
    );
    return [
      ...firsts.map(([firstDecisionId, { decision, by, value, book }]) => ({
        ...{ firstDecisionId, code: book.code, decision: decision.decision, value, by },
      })),
      ...proposals.map(([firstDecisionId, { by }]) => ({
        ...{ firstDecisionId, code: null, decision: 'four_eyes', value: null, by },
      })),
    ];
  }

  /** Whether this awaits another person instead of taking effect. */
  covers(book: Book, decision: Decision): boolean {
    return valueOf(book, decision) >= (this.#rules.get(book.fund)?.get(decision.decision) ?? Infinity);
  }

  decideFirst(book: Book, decision: Decision): Outcome {
    const { by } = decision;
    const taken = [...this.#firsts.values()].some((one) => one.book === book && this.#awaits(one));
    if (by === undefined || taken) return 'refused';
    const value = valueOf(book, decision);
    this.#firsts.set(decision.id, {
      ...{ decision, by, value, book },
      ...{ after: happened(book), standing: 'awaiting' },
    });
    return 'awaiting_confirmation';
  }

  /** What a first decision that is given again is answered; undefined where it is none. */
  again(id: string): Outcome | undefined {
    const first = this.#firsts.get(id);
    if (!first) return undefined;
    if (first.standing === 'done') return 'already_applied';
    return this.#awaits(first) ? 'awaiting_confirmation' : 'refused';
  }

  setRule(fund: string, covered: Covered, { id, by }: { readonly id: string; readonly by: string }): Outcome {
    const before = this.#rules.get(fund) ?? new Map();
    if (same(before, covered)) return 'already_applied';
    const proposed = [...this.#proposals.values()].find(
      (one) => one.fund === fund && one.standing === 'awaiting',
    );
    if (!asksForLess(before, covered)) {
      if (proposed) proposed.standing = 'void';
      this.#rules.set(fund, covered);
      return 'applied';
    }
    if (proposed) return 'refused';
    this.#proposals.set(id, { fund, by, covered, standing: 'awaiting' });
    return 'awaiting_confirmation';
  }

  /** @param carryOut takes the effect of what was decided */
  settle({ second, first, by }: SettleAwaiting, carryOut: (decision: Decision) => void): Outcome {
    const found = this.#firsts.get(first) ?? this.#proposals.get(first);
    if (!found) return 'refused';
    const settled = second === 'confirm' ? 'done' : 'withdrawn';
    if (found.standing === settled) return 'already_applied';
    const awaits = 'book' in found ? this.#awaits(found) : found.standing === 'awaiting';
    if (!awaits || (second === 'confirm' && samePerson(found.by, by))) return 'refused';
    found.standing = settled;
    if (second === 'withdraw') return 'applied';
    if ('book' in found) carryOut(found.decision);
    else this.#rules.set(found.fund, found.covered);
    return 'applied';
  }

  #awaits({ standing, book, after }: First): boolean {
    return standing === 'awaiting' && happened(book) === after;
  }
}
