import { REFUSED } from './answers.ts';
import type { Decided, Expected } from './answers.ts';
import { dailyFactor, dayAfter, daysFrom, factorText, valuation } from './curve.ts';
import { enter, isOpen, money, tell } from './book.ts';
import type { Book, Paper, Terms } from './book.ts';
import { decideOn } from './decision-rule.ts';
import type { Decision, Outcome } from './decision-rule.ts';
import type {
  AssignInput,
  Now,
  PrepayInput,
  RenegotiateInput,
  RepurchaseInput,
  SettleInput,
} from './inputs.ts';
import { prepayOn } from './prepayment-rule.ts';
import { repurchaseOn } from './repurchase-rule.ts';
import { settlePart } from './settlement-rule.ts';
import { TwoPeople } from './two-people-rule.ts';
import type { SettleAwaiting } from './two-people-rule.ts';

interface Used {
  readonly print: string;
  readonly answer: () => Expected;
}

/** One application's operations and keys, by the rules as they are written down. */
export class ApplicationModel {
  readonly books = new Map<string, Book>();
  readonly twoPeople = new TwoPeople();
  readonly #funds: readonly string[];
  readonly #used = new Map<string, Used>();
  /** Codes that renegotiations brought in: nobody's key. */
  readonly #brought = new Set<string>();

  constructor(funds: readonly string[]) {
    this.#funds = funds;
  }

  /** Answers a known key; otherwise decides, and keeps what was accepted under it. */
  #once([endpoint, key]: readonly [string, string], print: string, decide: () => Decided): Expected {
    const name = `${endpoint} ${key}`;
    const used = this.#used.get(name);
    if (used) return used.print === print ? { ...used.answer(), replayed: true } : REFUSED.conflict;
    const decided = decide();
    if (!('accept' in decided)) return decided;
    const answer = decided.accept();
    this.#used.set(name, { print, answer });
    return { ...answer(), replayed: false };
  }

  /** Why nothing of its code can be assigned so. */
  #refusalOfTerms({ fund, parts, issued }: Omit<AssignInput, 'papers'>): Expected | undefined {
    if (parts.some(({ due }) => due <= issued)) return REFUSED.shape;
    return this.#funds.includes(fund) ? undefined : REFUSED.fund;
  }

  /** What an assignment would be worth; the model is afterwards as it was. */
  quoteAssignment(input: Omit<AssignInput, 'papers'>): Expected {
    const { code, fund, price, issued, parts } = input;
    const refused = this.#refusalOfTerms(input);
    if (refused) return refused;
    if (this.books.has(code)) return REFUSED.code;
    const v = dailyFactor(price, issued, parts);
    const worth = valuation(
      v,
      parts.map((part) => ({ ...part, credits: [] })),
      issued,
    );
    return {
      status: 200,
      replayed: false,
      body: {
        ...{ status: 'quoted', dry_run: true, originator_proposal_code: code, fund_id: fund },
        daily_factor: factorText(v),
        acquisition_value: money(price),
        face_value: money(parts.reduce((sum, { face }) => sum + face, 0)),
        lines: parts.map((part, i) => ({
          ...{ installment_code: part.code, due_date: part.due, days: daysFrom(issued, part.due) },
          present_value: money(worth.lines[i]!),
        })),
      },
    };
  }

  assign(input: AssignInput, now: Now): Expected {
    const refused = this.#refusalOfTerms(input);
    if (refused) return refused;
    return this.#once(['assign', input.code], JSON.stringify(input), () => {
      if (this.#brought.has(input.code)) return REFUSED.code;
      return {
        accept: () => {
          const book = this.#receive(input, input.papers, now);
          return () => ({
            status: 201,
            body: {
              originator_proposal_code: book.code,
              status: book.status,
              fund_id: book.fund,
              received_at: book.receivedAt,
            },
          });
        },
      };
    });
  }

  #receive(input: AssignInput, papers: AssignInput['papers'], { now }: Now): Book {
    const book: Book = {
      ...{ code: input.code, fund: input.fund, product: input.product, person: input.person },
      ...{ price: input.price, issued: input.issued, receivedAt: now, status: 'received', received: 0 },
      v: dailyFactor(input.price, input.issued, input.parts),
      parts: input.parts.map((part) => ({ ...part, status: null, credits: [] })),
      papers: papers.map((paper) => ({ ...paper, receivedAt: now })),
      history: [],
      forgotten: false,
      prepayments: [],
      told: [],
    };
    enter(book, 'received', now);
    tell(book, 'loan_received', {
      status: 'received',
      received_at: now,
      acquisition_value: money(book.price),
      number_of_installments: book.parts.length,
    });
    this.books.set(book.code, book);
    return book;
  }

  settle(input: SettleInput, { now, today }: Now): Expected {
    const { key, ...contents } = input;
    if (input.at > dayAfter(today, 1)) return REFUSED.date;
    return this.#once(['settle', key], JSON.stringify(contents), () => {
      const book = this.books.get(input.code);
      const part = book?.parts.find(({ code }) => code === input.part);
      if (!book) return REFUSED.noLoan;
      if (!part) return REFUSED.noPart;
      if (input.at < book.issued) return REFUSED.date;
      if (book.status !== 'active') return REFUSED.state;
      if (!isOpen(part)) return REFUSED.closed;
      return {
        accept: () => {
          const owed = settlePart(book, part, input, now);
          const body = {
            originator_proposal_code: book.code,
            installment_code: part.code,
            status: 'settled',
            settled_at: input.at,
            settled_value: money(input.value),
            difference: money(Math.max(0, owed - input.value)),
            surplus: money(Math.max(0, input.value - owed)),
            processed_at: now,
          };
          return () => ({ status: 200, body });
        },
      };
    });
  }

  prepay(input: PrepayInput, { now, today }: Now): Expected {
    const { key, dry = false, ...contents } = input;
    if (input.at > dayAfter(today, 1)) return REFUSED.date;
    const decide = (): Decided => prepayOn(this.books.get(input.code), input, now);
    return dry ? asQuote(decide()) : this.#once(['prepay', key], JSON.stringify(contents), decide);
  }

  repurchase(input: RepurchaseInput, { now }: Now): Expected {
    const { key, dry = false, ...contents } = input;
    const decide = (): Decided => repurchaseOn(this.books.get(input.code), input, now);
    return dry ? asQuote(decide()) : this.#once(['repurchase', key], JSON.stringify(contents), decide);
  }

  /** Every original's code is a key of its own. */
  renegotiate(input: RenegotiateInput, now: Now): Expected {
    if (input.parts.some(({ due }) => due <= input.issued) || input.originals.includes(input.next))
      return REFUSED.shape;
    const { originals } = input;
    const print = JSON.stringify({ ...input, originals: originals.toSorted() });
    const used = originals.map((code) => this.#used.get(`renegotiate ${code}`));
    if (used.some((one) => one && one.print !== print)) return REFUSED.conflict;
    if (used[0]) return { ...used[0].answer(), replayed: true };
    const refused = this.#refusalOf(input);
    if (refused) return refused;
    const books = originals.map((code) => this.books.get(code)!);
    const answer = this.#replace(input, books, now);
    for (const code of originals) this.#used.set(`renegotiate ${code}`, { print, answer });
    return { ...answer(), replayed: false };
  }

  #refusalOf({ originals, next, effective, person, papers }: RenegotiateInput): Expected | undefined {
    const books = originals.map((code) => this.books.get(code));
    if (!books.every((book) => book !== undefined)) return REFUSED.noLoan;
    if (new Set(books.map(({ fund }) => fund)).size > 1) return REFUSED.shape;
    if (books.some(({ issued }) => effective < issued)) return REFUSED.date;
    if (books.some(({ status }) => status !== 'active')) return REFUSED.state;
    if (this.books.has(next)) return REFUSED.code;
    if (!person && books.some(({ forgotten }) => forgotten)) return REFUSED.state;
    if (!person && new Set(books.map((book) => book.person.document)).size > 1) return REFUSED.shape;
    if (!papers && books.some(({ forgotten }) => forgotten)) return REFUSED.state;
    return undefined;
  }

  #replace(input: RenegotiateInput, books: readonly Book[], now: Now): () => Expected {
    const terms: Terms = { originals: input.originals, next: input.next, effective: input.effective };
    for (const book of books) {
      enter(book, 'renegotiated', now.now);
      book.renegotiation = { role: 'original', terms, completedAt: null };
    }
    const [first] = books as readonly [Book];
    const inherited = new Map(books.flatMap(({ papers }) => papers.map((paper) => [paper.value, paper])));
    const book = this.#receive(
      {
        ...input,
        ...{ code: input.next, fund: first.fund, product: first.product },
        person: input.person ?? first.person,
        papers: [],
      },
      input.papers ?? [...inherited.values()],
      now,
    );
    book.renegotiation = { role: 'new', terms, completedAt: null };
    this.#brought.add(input.next);
    return () => ({
      status: 200,
      body: {
        original_proposal_code: input.originals[0],
        original_proposal_codes: input.originals,
        status: 'renegotiated',
        new_proposal: { originator_proposal_code: input.next, status: book.status },
        effective_date: input.effective,
        processed_at: now.now,
      },
    });
  }

  addPapers(code: string, papers: readonly Omit<Paper, 'receivedAt'>[], { now }: Now): Expected {
    const book = this.books.get(code);
    if (!book) return REFUSED.noLoan;
    // Names are gone with the borrower: then the same content of the same type is the same document.
    const isSame = (one: Omit<Paper, 'receivedAt'>, other: Omit<Paper, 'receivedAt'>): boolean =>
      book.forgotten ? one.sha256 === other.sha256 && one.type === other.type : one.value === other.value;
    const known = papers.map((paper) => book.papers.find((one) => isSame(one, paper)));
    const clash = known.some(
      (one, i) => one && (one.sha256 !== papers[i]!.sha256 || one.type !== papers[i]!.type),
    );
    if (clash) return REFUSED.conflict;
    const fresh = papers.filter((_, i) => !known[i]);
    if (fresh.length > 0) {
      if (book.status === 'rejected' || book.forgotten) return REFUSED.state;
      const signed = fresh.some(({ type }) => type === 'renegotiation_signature');
      if (signed && !book.renegotiation) return REFUSED.state;
      book.papers = [...book.papers, ...fresh.map((paper) => ({ ...paper, receivedAt: now }))];
    }
    return { status: 201, body: { originator_proposal_code: code }, replayed: fresh.length === 0 };
  }

  decide(input: Decision, now: Now): Outcome {
    const book = this.books.get(input.code);
    if (!book) return 'refused';
    const decided = decideOn(book, input, now, this.books);
    if (typeof decided === 'string') return decided;
    if (this.twoPeople.covers(book, input)) return this.twoPeople.decideFirst(book, input);
    decided();
    return 'applied';
  }

  /** @param done told of the decision that takes effect with it */
  settleAwaiting(second: SettleAwaiting, now: Now, done: (decision: Decision) => void): Outcome {
    return this.twoPeople.settle(second, (decision) => {
      (decideOn(this.books.get(decision.code)!, decision, now, this.books) as () => void)();
      done(decision);
    });
  }

  /** What falls due before today, of active operations. */
  dayTurns(today: string): void {
    for (const { status, parts } of this.books.values())
      if (status === 'active')
        for (const part of parts) if (part.status === 'pending' && part.due < today) part.status = 'overdue';
  }

  forget(document: string, includingOpen: boolean): void {
    for (const book of this.books.values())
      if (book.person.document === document && (includingOpen || ENDED.has(book.status)))
        book.forgotten = true;
  }
}

const ENDED = new Set(['rejected', 'repurchased', 'reversed', 'resolved', 'renegotiated', 'settled']);

const asQuote = (decided: Decided): Expected => {
  if ('accept' in decided) throw new Error('a quote accepts nothing');
  return decided;
};
