import { answerDifferences, byArrival, byId, differences, isOfEarlier } from './compare.ts';
import { knownAt } from './known.ts';
import { Meaning } from './meaning.ts';
import { ApplicationModel } from './model/application-model.ts';
import { money } from './model/book.ts';
import type { Book } from './model/book.ts';
import type { Decision } from './model/decision-rule.ts';
import { summaryOf, viewOf } from './model/view.ts';
import type { Request } from './requests.ts';
import { DAYS_BEFORE } from './steps.ts';
import type { Life, Step } from './steps.ts';
import type { TestApplication, World } from './world.ts';

const COMPLETED_WITHIN_MS = 60_000;

/** One life that goes on in a world, beside the model of it. */
export class Living {
  readonly world: World;
  readonly application: TestApplication;
  readonly model: ApplicationModel;
  /** Answered as expected so far, to tell what happened. */
  readonly story: string[] = [];
  readonly found: string[] = [];
  readonly known: ReturnType<typeof knownAt>[] = [];
  /** Kinds of answers, to see that lives meet all of them. */
  readonly met = new Set<string>();
  readonly #stranger: TestApplication;
  readonly #meaning: Meaning;
  readonly #sent: Request[] = [];
  readonly #decided = new Map<string, string>();
  readonly #beganBesideEarlier: boolean;

  private constructor(world: World, application: TestApplication, stranger: TestApplication) {
    this.world = world;
    this.#beganBesideEarlier = world.besideEarlier;
    this.application = application;
    this.#stranger = stranger;
    this.model = new ApplicationModel(application.funds);
    this.#meaning = new Meaning(this.model, application.funds, application.applicationId);
  }

  static async begin(world: World): Promise<Living> {
    return new Living(world, await world.createApplication(), await world.createApplication());
  }

  /** Stops at the first difference: what comes after it says nothing. */
  async part(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (this.found.length > 0) return;
      if (step.kind === 'restart') await this.world.restart();
      else await this.world.gate.inside(() => this.#take(step));
    }
    if (this.found.length === 0) await this.world.gate.inside(() => this.checkReads());
    this.known.push(knownAt(this.model, this.world.now().now));
  }

  /** Everything that can be read of this life, in the world that it went on in or in one that was made from it. */
  async checkReads(world = this.world): Promise<void> {
    for (const book of this.model.books.values())
      this.#say(`at last, ${book.code}`, await this.#differencesOf(book, world));
    for (const fund of this.application.funds) {
      const awaiting = await world.parts.administrator.confirmations.awaiting(fund);
      this.#say('what awaits', differences(byId(this.model.twoPeople.listed(fund)), byId(awaiting)));
    }
  }

  /** What receivers are told, one by one, among all that is told in this world. */
  async checkEvents(world: World, told: Awaited<ReturnType<World['events']>>): Promise<void> {
    const events = told.filter((event) => this.application.funds.includes(event.fund_id));
    for (const { code, told: book, fund } of this.model.books.values()) {
      const own = events.filter(({ originator_proposal_code: of }) => of === code);
      const expected = book.map(({ name, data, flat }) => ({ event: name, fund_id: fund, data, ...flat }));
      this.#say(`events of ${code}`, differences(expected, own));
    }
    // A process of the earlier release has no feed.
    if (world.besideEarlier) return;
    this.#say('the feed', differences(events, await world.feed(this.application, events.length)));
  }

  /** A step that is one request. */
  #requestOf(step: Exclude<Step, { kind: 'restart' }>): Request | undefined {
    const now = this.world.now();
    switch (step.kind) {
      case 'assign':
        return this.#meaning.assign(step, now);
      case 'settle':
        return this.#meaning.settle(step, now);
      case 'prepay':
        return this.#meaning.prepay(step, now);
      case 'repurchase':
        return this.#meaning.repurchase(step, now);
      case 'renegotiate':
        return this.#meaning.renegotiate(step, now);
      case 'addFile':
        return this.#meaning.addFile(step);
      case 'again':
        return this.#sent[step.request % Math.max(1, this.#sent.length)];
      default:
        return undefined;
    }
  }

  async #take(step: Exclude<Step, { kind: 'restart' }>): Promise<void> {
    const request = this.#requestOf(step);
    if (request) return this.#send(request);
    const now = this.world.now();
    switch (step.kind) {
      case 'activate':
        return this.#decide(this.#meaning.activate(step, now));
      case 'process':
        return this.#decide([this.#meaning.process(step)]);
      case 'decide':
        return this.#decide([this.#meaning.decide(step, now)]);
      case 'rule':
        return this.#setRule(this.#meaning.rule(step));
      case 'second':
        return this.#settle(this.#meaning.second(step));
      case 'forget':
        return this.#forget(this.#meaning.person(step.person).document, step.includingOpen);
      case 'read':
        return this.#read(this.#meaning.book(step.op), step.elsewhere);
      case 'list':
        return this.#list(
          step.status,
          step.fund === undefined ? undefined : this.application.funds[step.fund],
        );
      default:
        return undefined;
    }
  }

  async #forget(document: string, includingOpen: boolean): Promise<void> {
    await this.world.forget(document, this.application.applicationId, includingOpen);
    this.model.forget(document, includingOpen);
    this.#say(`forget ${document}`, []);
  }

  #say(what: string, differing: readonly string[]): void {
    this.story.push(what);
    this.found.push(...differing.map((one) => `${what}: ${one}`));
  }

  async #send(request: Request): Promise<void> {
    if (request.tried) await this.#compare(request.tried);
    await this.#compare(request);
    this.#sent.push(request);
  }

  async #compare(request: Request): Promise<void> {
    const answer = await this.world.call(this.application, request.http());
    const expected = request.expect(this.model, this.world.now());
    const { method, path } = request.http();
    this.met.add(
      `${method} ${path} ${answer.status} ${answer.body.error_code ?? answer.body.status ?? ''}${answer.replayed ? ' replayed' : ''}`,
    );
    const ofEarlier = this.world.besideEarlier || (this.#beganBesideEarlier && answer.replayed);
    this.#say(request.what, answerDifferences(expected, answer, ofEarlier));
  }

  async #decide(decisions: readonly Decision[]): Promise<void> {
    const outcomes = await this.world.decide(decisions.map((one) => this.#submitted(one)));
    let activated = false;
    for (const [i, decision] of decisions.entries()) {
      const expected = this.#outcomeOf(decision);
      activated ||= decision.decision === 'disburse' && expected === 'applied';
      this.met.add(`${decision.decision} ${expected}`);
      this.#say(`${decision.decision} ${decision.code}`, differences(expected, outcomes[i], 'outcome'));
    }
    if (activated) await this.#afterActivation(decisions.map(({ code }) => code));
  }

  async #afterActivation(codes: readonly string[]): Promise<void> {
    // Overdue installments are looked for among the rows of the read model.
    for (const code of new Set(codes)) await this.world.call(this.application, read(code));
    await this.world.sweep();
    this.model.dayTurns(this.world.now().today);
  }

  /** A process of an earlier release would decide without asking, so no rule is set beside one. */
  async #setRule(rule: ReturnType<Meaning['rule']>): Promise<void> {
    if (this.world.besideEarlier) return;
    const expected = this.model.twoPeople.setRule(rule.fund, rule.covered, rule);
    const outcome = await this.world.setRule(rule);
    this.met.add(`rule ${expected}`);
    this.#say(`rule ${[...rule.covered].join(' ')} by ${rule.by}`, differences(expected, outcome, 'outcome'));
  }

  async #settle(asked: ReturnType<Meaning['second']>): Promise<void> {
    if (this.world.besideEarlier) return;
    const { second, first, id, by } = asked;
    const text = { decision_id: id, decision: second, first_decision_id: first, operator: by };
    const [outcome] = await this.world.decide([text]);
    const done: Decision[] = [];
    const expected = this.model.settleAwaiting(asked, this.world.now(), (one) => void done.push(one));
    this.met.add(`${second} ${expected}`);
    this.#say(`${second} ${first} by ${by}`, differences(expected, outcome, 'outcome'));
    const activated = done.filter(({ decision }) => decision === 'disburse');
    if (activated.length > 0) await this.#afterActivation(activated.map(({ code }) => code));
  }

  /** An id belongs to the decision that took effect under it. */
  #outcomeOf(decision: Decision): string {
    const used = this.#decided.get(decision.id);
    const { confirmed: _, on: __, by: ___, ...contents } = decision;
    const submitted = JSON.stringify(this.#submitted(contents));
    if (used !== undefined && used !== submitted) return 'refused';
    if (used !== undefined) return this.model.twoPeople.again(decision.id) ?? 'already_applied';
    const outcome = this.model.decide(decision, this.world.now());
    if (outcome === 'applied' || outcome === 'awaiting_confirmation')
      this.#decided.set(decision.id, submitted);
    return outcome;
  }

  #submitted({ id, code, decision, reasons, date, value, confirmed, on, by }: Decision): object {
    return {
      decision_id: id,
      application_id: this.application.applicationId,
      originator_proposal_code: code,
      decision,
      ...(reasons && { reasons }),
      ...(decision === 'disburse' && { disbursement_date: date, disbursed_value: money(value!) }),
      ...(confirmed !== undefined && { confirmed_value: money(confirmed) }),
      ...(on !== undefined && { expected_status: on }),
      // Processes of the release before know no operator.
      ...(by !== undefined && !this.world.besideEarlier && { operator: by }),
    };
  }

  async #read(book: Book | undefined, elsewhere: boolean): Promise<void> {
    const code = book?.code ?? 'UNKNOWN';
    if (elsewhere || !book) {
      const answer = await this.world.call(this.#stranger, read(code));
      return this.#say(`read ${code} elsewhere`, differences(404, answer.status, 'status'));
    }
    const found = await this.#differencesOf(book);
    this.#say(`read ${code}`, found);
  }

  /** The end of a renegotiation is told a moment after the new operation is active. */
  async #differencesOf(book: Book, world = this.world): Promise<readonly string[]> {
    const deadline = Date.now() + COMPLETED_WITHIN_MS;
    for (;;) {
      const { body } = await world.call(this.application, read(book.code));
      const found = differences(viewOf(book, world.now().today), body).filter(
        (one) => !(world.besideEarlier && isOfEarlier(book, one)),
      );
      const early = found.length === 1 && found[0]!.startsWith('.renegotiation.completed_at');
      if (!early || Date.now() > deadline) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #list(status?: string, fund?: string): Promise<void> {
    const filters = String(
      new URLSearchParams({
        ...(status !== undefined && { status }),
        ...(fund !== undefined && { fund_id: fund }),
      }),
    );
    const books = [...this.model.books.values()].filter(
      (book) =>
        (status === undefined || book.status === status) && (fund === undefined || book.fund === fund),
    );
    const { body } = await this.world.call(this.application, { method: 'GET', path: `/loan?${filters}` });
    const expected = books.map(summaryOf).sort(byArrival);
    this.#say(
      `list ${filters}`,
      differences({ data: expected }, { data: [...(body.data as object[])].sort(byArrival) }),
    );
  }
}

const read = (code: string) => ({ method: 'GET', path: `/loan/${code}` });

/** Lets these lives go on side by side in the world; the clock moves for all of them. */
export const liveAll = async (world: World, all: readonly Life[]): Promise<readonly Living[]> => {
  const living = await Promise.all(all.map(() => Living.begin(world)));
  for (const [i, days] of DAYS_BEFORE.entries()) {
    if (days > 0) {
      await world.pass(days);
      for (const one of living) one.model.dayTurns(world.now().today);
    }
    await atMost(10, living, (one, n) => one.part(all[n]!.parts[i] ?? []));
  }
  const told = await world.events();
  await atMost(10, living, (one) => one.checkEvents(world, told));
  return living;
};

export const atMost = async <T>(
  many: number,
  items: readonly T[],
  work: (item: T, n: number) => Promise<void>,
): Promise<void> => {
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [n, item] of waiting) await work(item, n);
  };
  await Promise.all(Array.from({ length: many }, worker));
};
