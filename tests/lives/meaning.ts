import type { ApplicationModel } from './model/application-model.ts';
import { isOpen, openParts } from './model/book.ts';
import type { Book, Person } from './model/book.ts';
import { dayAfter, owedAtDue, valuation } from './model/curve.ts';
import { isFarOff } from './model/decision-rule.ts';
import type { Decision } from './model/decision-rule.ts';
import type { Now, ScheduleInput, SettleInput } from './model/inputs.ts';
import type { Covered, SettleAwaiting } from './model/two-people-rule.ts';
import { paper } from './papers.ts';
import {
  assignRequest,
  filesRequest,
  prepayRequest,
  renegotiateForm,
  renegotiateRequest,
  repurchaseRequest,
  settleBatch,
  settleRequest,
} from './requests.ts';
import type { Request } from './requests.ts';
import type { StepOf } from './steps.ts';

const PEOPLE: readonly Person[] = [
  { document: '52998224725', kind: 'CPF', name: 'Joana Prado' },
  { document: '11144477735', kind: 'CPF', name: 'Tarsila Quintanilha' },
  { document: '11222333000181', kind: 'CNPJ', name: 'Padaria do Largo Ltda' },
];
/** Names that people state; two of them are the same person. */
const DESK = ['Ana', 'Bia', 'ANA', 'Caio'];
const UNKNOWN_PART = 5;
const BEFORE_ACTIVE = ['received', 'approved', 'term_signed'];
const FOREIGN_FUND = '00000000-0000-4000-8000-000000000000';
const at = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** What the numbers of a step mean in an application as it is now. */
export class Meaning {
  readonly #model: ApplicationModel;
  readonly #funds: readonly string[];
  /** In front of decision ids, which are shared by all applications. */
  readonly #name: string;
  #count = 0;
  readonly #keys: string[] = [];
  readonly #ids: string[] = [];
  #settled: SettleInput | undefined;

  constructor(model: ApplicationModel, funds: readonly string[], name: string) {
    this.#model = model;
    this.#funds = funds;
    this.#name = name;
  }

  person(n: number): Person {
    return at(PEOPLE, n)!;
  }

  book(n: number): Book | undefined {
    return at([...this.#model.books.values()], n);
  }
  /** One that may go on, as long as there is one; what refuses is met often enough all the same. */
  #lively(n: number): Book | undefined {
    const active = [...this.#model.books.values()].filter(({ status }) => status === 'active');
    return n < 9 && active.length > 0 ? at(active, n) : this.book(n);
  }
  #codeOf(book: Book | undefined): string {
    return book?.code ?? 'UNKNOWN';
  }

  #newCode(used: number): string {
    const book = used >= 0 ? this.book(used) : undefined;
    return book?.code ?? `OP-${(this.#count += 1)}`;
  }
  #key(used: number): string {
    const known = used >= 0 ? at(this.#keys, used) : undefined;
    if (known !== undefined) return known;
    const key = `key-${(this.#count += 1)}`;
    this.#keys.push(key);
    return key;
  }
  #id(used: number): string {
    const known = used >= 0 ? at(this.#ids, used) : undefined;
    if (known !== undefined) return known;
    const id = `${this.#name}-${(this.#count += 1)}`;
    this.#ids.push(id);
    return id;
  }

  /** One that no decision is ever given. */
  #ownId(): string {
    return `${this.#name}-desk-${(this.#count += 1)}`;
  }

  #schedule({ parts, price }: StepOf<'assign'>['schedule'], issued: string, flaw = false): ScheduleInput {
    let days = flaw ? -40 : 15;
    const planned = parts.map(({ gap, face }, i) => ({
      code: String(i + 1).padStart(3, '0'),
      due: dayAfter(issued, (days += gap)),
      face,
    }));
    const total = planned.reduce((sum, { face }) => sum + face, 0);
    return { issued, parts: planned, price: Math.max(1, Math.round((total * price) / 1000)) };
  }

  assign(step: StepOf<'assign'>, { today, besideEarlier }: Now): Request {
    const issued = dayAfter(today, -step.issued);
    const code = this.#newCode(step.code);
    const papers = Array.from({ length: step.papers }, (_, i) =>
      paper('ccb', `ccb-${code}-${i}.pdf`, i + step.person),
    );
    const fund = this.#funds[step.fund] ?? FOREIGN_FUND;
    const person = this.person(step.person);
    const input = {
      code,
      fund,
      product: 'financing',
      person,
      ...this.#schedule(step.schedule, issued, step.flaw),
    };
    // What may be tried out, and how, follows from what is drawn anyway: a life stays the life of its seed.
    const tried = step.papers === 1 || besideEarlier ? 'not' : step.person === 0 ? 'alone' : 'with papers';
    return assignRequest(input, papers, tried);
  }

  /** What is missing until the operation is active. */
  activate({ op, value, steps }: StepOf<'activate'>, { today }: Now): readonly Decision[] {
    const waiting = [...this.#model.books.values()].filter(({ status }) => BEFORE_ACTIVE.includes(status));
    const book = at(waiting, op);
    if (!book) return [];
    const names = ['approve', 'sign_term', 'disburse'] as const;
    const done = BEFORE_ACTIVE.indexOf(book.status);
    return names
      .slice(done, done + steps)
      .map((decision) => ({ ...this.#decision(book, decision, value), date: laterOf(book.issued, today) }));
  }

  /** Every repurchase that waits is one of these, sooner or later. */
  process({ op }: StepOf<'process'>): Decision {
    const waiting = [...this.#model.books.values()].filter(({ status }) => status === 'repurchase_pending');
    return this.#decision(at(waiting, op) ?? this.book(op), 'process_repurchase', 0);
  }

  #decision(book: Book | undefined, decision: Decision['decision'], value: number): Decision {
    const price = book?.price ?? 100;
    const id = this.#id(-1);
    // Who decides is said where it counts.
    const by = this.#model.twoPeople.anyRule ? { by: at(DESK, this.#count)! } : {};
    const common = { id, code: this.#codeOf(book), decision, ...by };
    if (decision === 'disburse') {
      const paid = Math.max(1, price - [0, 0, 1, 990, Math.floor(price / 2)][value]!);
      return { ...common, value: paid, ...(isFarOff(paid, price) && { confirmed: paid }) };
    }
    if (decision === 'reject')
      return { ...common, reasons: [{ code: 'fraud', message: `Because of ${value}` }] };
    return common;
  }

  /** Where the decision makes sense, most of the time. */
  #undecided(step: StepOf<'decide'>): Book | undefined {
    const wanted = step.decision === 'process_repurchase' ? ['repurchase_pending'] : BEFORE_ACTIVE;
    const waiting = [...this.#model.books.values()].filter(({ status }) => wanted.includes(status));
    return step.op < 8 && waiting.length > 0 ? at(waiting, step.op) : this.book(step.op);
  }

  decide(step: StepOf<'decide'>, { today, besideEarlier }: Now): Decision {
    const book = this.#undecided(step);
    const decision = this.#decision(book, step.decision, step.value);
    const id = step.id >= 0 ? this.#id(step.id) : decision.id;
    const dated = {
      ...decision,
      id,
      ...(step.decision === 'disburse' && { date: dayAfter(today, step.day) }),
    };
    // Processes of the release before read neither.
    if (besideEarlier) return dated;
    const { confirmed: _, ...once } = dated;
    const { value } = once;
    return {
      ...once,
      ...(value !== undefined &&
        step.said !== 'once' && { confirmed: step.said === 'twice' ? value : value + 1 }),
      ...(step.on !== 'none' && { on: step.on === 'its own' ? (book?.status ?? 'received') : step.on }),
    };
  }

  /** What of a rule stands in the step, under an id of its own. */
  rule({ fund, decisions, from, by }: StepOf<'rule'>) {
    const covered: Covered = new Map(decisions.map((one) => [one, from]));
    return { fund: this.#funds[fund]!, covered, id: this.#ownId(), by: at(DESK, by)! };
  }

  /** What awaits, most of the time; what awaits no more, or never did, is met often enough. */
  second({ second, first, by }: StepOf<'second'>): SettleAwaiting & { readonly id: string } {
    const { twoPeople } = this.#model;
    const [awaiting, all] = [twoPeople.ids('awaiting'), twoPeople.ids('all')];
    const of = at(first < 9 && awaiting.length > 0 ? awaiting : all, first) ?? 'never';
    return { second, first: of, id: this.#ownId(), by: at(DESK, by)! };
  }

  settle(step: StepOf<'settle'>, { today, besideEarlier }: Now): Request {
    const book = this.#lively(step.op);
    const open = book?.parts.filter(isOpen) ?? [];
    const part = step.part < 4 && open.length > 0 ? at(open, step.part) : at(book?.parts ?? [], step.part);
    const owed = book && part ? Math.max(1, owedAtDue(book.v, part)) : 100;
    const values = { owed, less: Math.max(1, Math.floor(owed * 0.8)), more: owed + 123, cent: 1 };
    const input: SettleInput = {
      code: this.#codeOf(book),
      part: step.part === UNKNOWN_PART ? '999' : (part?.code ?? '999'),
      at: dayAfter(today, step.day),
      value: values[step.value],
      method: step.method,
      key: this.#key(step.key),
    };
    return besideEarlier || step.op % 3 > 0 ? this.#alone(input) : this.#inBatch(input);
  }

  #alone(input: SettleInput): Request {
    this.#settled = input;
    return settleRequest(input);
  }

  /** Twice, around the one before, and as a new one of that one's installment. */
  #inBatch(input: SettleInput): Request {
    const before = this.#settled;
    if (!before) return this.#alone(input);
    this.#settled = input;
    return settleBatch([input, before, input, { ...input, part: before.part, key: this.#key(-1) }]);
  }

  prepay(step: StepOf<'prepay'>, { today }: Now): Request {
    const book = this.#lively(step.op);
    const date = dayAfter(today, step.day);
    const payoff = book ? valuation(book.v, openParts(book), date).total : 100;
    const value = Math.min(99_999_999, Math.max(1, Math.round((payoff * step.value) / 1000) + step.cents));
    const { method, dry } = step;
    return prepayRequest({
      code: this.#codeOf(book),
      at: date,
      value,
      method,
      key: this.#key(step.key),
      dry,
    });
  }

  repurchase(step: StepOf<'repurchase'>, { today }: Now): Request {
    return repurchaseRequest({
      code: this.#codeOf(this.#lively(step.op)),
      reason: step.reason,
      ...(step.detail && { detail: `Asked for by the originator, ${step.op}` }),
      effective: dayAfter(today, step.day),
      ...(step.value !== undefined && { value: step.value }),
      key: this.#key(step.key),
      dry: step.dry,
    });
  }

  renegotiate(step: StepOf<'renegotiate'>, { today }: Now): Request {
    const active = [...this.#model.books.values()].filter(({ status }) => status === 'active');
    const among = step.sound && active.length > 0 ? active : [...this.#model.books.values()];
    const chosen = new Set(step.ops.map((n) => this.#codeOf(at(among, n))));
    const originals = step.form ? [...chosen] : [...chosen].slice(0, 1);
    const issued = dayAfter(today, step.day);
    const next = this.#newCode(step.code);
    const input = { originals, next, effective: issued, ...this.#schedule(step.schedule, issued) };
    if (!step.form) return renegotiateRequest(input);
    const person = step.person === undefined ? {} : { person: this.person(step.person) };
    return renegotiateForm({ ...input, ...person }, [
      paper('renegotiation_document', `debt-${next}.pdf`, step.day + 1_000),
    ]);
  }

  addFile(step: StepOf<'addFile'>): Request {
    const file = paper(step.type, `file-${step.name}.pdf`, step.content);
    return filesRequest(this.#codeOf(this.book(step.op)), [file]);
  }
}

const laterOf = (one: string, other: string): string => (one > other ? one : other);
