import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DecisionAnswer } from '../../application/administrator/answers.ts';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { EventStore, RecordedEvent } from '../../application/ports/event-store.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { commandHandler, fixedClock } from '../support/application-parts.ts';
import { MortalEventStore } from '../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../support/in-memory-event-store.ts';
import {
  APPLICATION,
  FUND,
  audited,
  decide,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  told,
} from '../support/two-people-desk.ts';

/** Another one looks elsewhere: SEED=123 npm test -- tests/simulation/two-people */
const SEED = Number(process.env['SEED'] ?? '1');
const RUNS = 100;
const CODES = ['OP-1', 'OP-2'];
const PEOPLE = ['Ana', 'Bia', 'ANA ', 'Caio'];
const NAMES = ['approve', 'reject', 'sign_term', 'disburse'] as const;
const DETAILS: Readonly<Record<string, object>> = {
  reject: { reasons: [{ code: 'fraud', message: 'forged' }] },
  disburse: { disbursement_date: '2026-06-20', disbursed_value: 10_000 },
};

const NEXT: Readonly<Record<string, string>> = {
  'loan.received.v1': 'approve',
  'loan.approved.v1': 'sign_term',
  'loan.term_signed.v1': 'disburse',
};

class TestLog extends InMemoryEventStore {
  get all(): readonly RecordedEvent[] {
    return this.log;
  }
}

const index = fc.nat(1_000);
const person = fc.constantFrom(...PEOPLE);
const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('decide'),
      name: fc.constantFrom('next', 'next', 'next', ...NAMES),
      code: fc.constantFrom(...CODES),
      person,
      index,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('confirm', 'withdraw', 'again'), person, index }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('touch'), code: fc.constantFrom(...CODES), person }),
  },
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('acts'), acts: fc.array(act, { minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('dies'),
      act,
      at: fc.integer({ min: 1, max: 2 }),
      death: fc.constantFrom('before', 'after'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rule'),
      names: fc.subarray([...NAMES]),
      from: fc.constantFrom(0, 20_000),
      person,
    }),
  },
);

class World {
  readonly store = new TestLog();
  readonly clock: ReturnType<typeof fixedClock>;
  /** Milliseconds since the beginning. */
  #time = 0;
  #ids = 0;
  readonly #sent: (readonly [name: string, code: string, id: string])[] = [];
  readonly #firsts: string[] = [];

  constructor() {
    const now = (): Timestamp => new Date(Date.UTC(2026, 5, 20, 3) + this.#time++).toISOString() as Timestamp;
    this.clock = { ...fixedClock(), now };
  }

  /** What was asked for at once is over: who decides by a rule that changes meanwhile does so within a moment, as the audit allows. */
  nextMinute(): void {
    this.#time += 60_000;
  }

  desk(store: EventStore = this.store) {
    return deskOver(store, this.clock, CODES);
  }

  async act(one: Act, store: EventStore = this.store): Promise<DecisionAnswer | undefined> {
    const who = { name: one.person };
    if ('code' in one && !('name' in one)) return void (await this.#touch(one.code, store));
    if ('name' in one) {
      const id = `D-${this.#ids++}`;
      const name = one.name === 'next' ? await this.#next(one.code) : one.name;
      this.#sent.push([name, one.code, id]);
      const answer = decide(this.desk(store), name, who, { code: one.code, id, ...DETAILS[name] });
      // Of one that died nobody knows.
      if (store !== this.store || told(await answer) === 'awaiting_confirmation') this.#firsts.push(id);
      return answer;
    }
    if (one.kind === 'again') {
      const [name, code, id] = this.#sent[one.index % Math.max(1, this.#sent.length)] ?? [];
      if (name === undefined) return undefined;
      return decide(this.desk(store), name, who, { code: code!, id: id!, ...DETAILS[name] });
    }
    // Rather one of the last, of which something may still become.
    const first = this.#firsts.at(-1 - (one.index % 4)) ?? 'never';
    return second(this.desk(store), one.kind, who, {
      first,
      id: `S-${this.#ids++}`,
    });
  }

  async rule(names: readonly (typeof NAMES)[number][], from: number, by: string): Promise<void> {
    const id = `R-${this.#ids++}`;
    this.#firsts.push(id);
    const rule = ruleOf('stated', ...names.map((name) => [name, from] as const));
    await setRule(this.desk(), rule, { name: by }, id).catch(() => undefined);
  }

  async #next(code: string): Promise<string> {
    const { events } = await this.store.read(loanStream(APPLICATION, code));
    const last = events.findLast(({ type }) => type in NEXT);
    return NEXT[last?.type ?? ''] ?? 'approve';
  }

  async #touch(code: string, store: EventStore): Promise<void> {
    await commandHandler(store, this.clock)
      .handle({
        ...{ stream: loanStream(APPLICATION, code), applicationId: APPLICATION },
        ...{ actor: 'client-1', correlationId: `T-${this.#ids++}` },
        decide: () => [{ type: 'DocumentsAdded', documents: [], addedAt: this.clock.now() }],
      })
      .catch(() => undefined);
  }
}

interface First {
  readonly stream: string;
  readonly by: string;
  readonly madeOn: number;
  readonly decision: string;
  confirmedBy?: string;
  over?: true;
}

interface Payload {
  readonly by?: { readonly name: string };
  readonly first_decision_id?: string;
  readonly proposal_id?: string;
  readonly decisions?: readonly { readonly decision: string; readonly from: number }[];
  readonly made_on?: number;
  readonly decision?:
    | string
    | {
        readonly four_eyes?: {
          readonly first_decision_id: string;
          readonly second: { readonly name: string };
        };
      };
}

const DECIDED: Readonly<Record<string, string>> = {
  'loan.approved.v1': 'approve',
  'loan.rejected.v1': 'reject',
  'loan.term_signed.v1': 'sign_term',
  'loan.disbursed.v1': 'disburse',
};
/** In cents, of every decision here. */
const VALUE = 1_000_000;
const key = (name: string | undefined): string => (name ?? '').trim().toLowerCase();

/** The whole log once more, by nothing but what it says: who decided, who confirmed, and which rule was in force by then. */
class Witness {
  readonly #firsts = new Map<string, First>();
  readonly #effects = new Set<string>();
  #covered = new Map<string, number>();
  #proposals = new Map<string, string>();

  constructor(log: readonly RecordedEvent[]) {
    for (const event of log) {
      const payload = JSON.parse(event.data) as Payload;
      if (event.stream.startsWith('fund-')) this.#rule(event.type, payload);
      else if (event.stream.startsWith('decision-')) this.#decision(event, payload);
      else this.#operation(event, payload);
    }
  }

  get effects(): number {
    return this.#effects.size;
  }

  #rule(type: string, { by, proposal_id: id = '', decisions = [] }: Payload): void {
    if (type === 'fund.four_eyes_proposed.v1') this.#proposals.set(id, key(by?.name));
    if (type !== 'fund.four_eyes_set.v1') return;
    const after = new Map(decisions.map((one) => [one.decision, one.from]));
    const weaker = [...this.#covered].some(([name, from]) => (after.get(name) ?? Infinity) > from);
    if (weaker) {
      expect(this.#proposals.has(id)).toBe(true);
      expect(this.#proposals.get(id)).not.toBe(key(by?.name));
    }
    this.#covered = after;
    this.#proposals = new Map();
  }

  #decision({ type, stream }: RecordedEvent, payload: Payload): void {
    const { first_decision_id: id = '', made_on: madeOn = -1, decision } = payload;
    const by = key(payload.by?.name);
    if (type === 'decision.awaiting.v1')
      return void this.#firsts.set(id, {
        stream: stream.replace('decision-', 'loan-'),
        by,
        madeOn,
        decision: decision as string,
      });
    const first = this.#firsts.get(id)!;
    expect([type, first.over]).toEqual([type, undefined]);
    if (type === 'decision.confirmed.v1') {
      expect([first.confirmedBy, first.by]).not.toContain(by);
      expect(first.confirmedBy).toBeUndefined();
      first.confirmedBy = by;
      return;
    }
    if (type === 'decision.withdrawn.v1') expect(first.confirmedBy).toBeUndefined();
    first.over = true;
  }

  #operation({ type, stream, revision }: RecordedEvent, { decision }: Payload): void {
    const name = DECIDED[type];
    if (name === undefined) return;
    const eyes = typeof decision === 'object' ? decision.four_eyes : undefined;
    if (!eyes) return expect([name, VALUE >= (this.#covered.get(name) ?? Infinity)]).toEqual([name, false]);
    const { first_decision_id: id, second: by } = eyes;
    const first = this.#firsts.get(id)!;
    expect([first.stream, first.decision, first.over, first.madeOn]).toEqual([
      stream,
      name,
      undefined,
      Number(revision) - 1,
    ]);
    expect([key(by.name), this.#effects.has(id)]).toEqual([first.confirmedBy, false]);
    this.#effects.add(id);
  }
}

test('whoever decides, confirms, withdraws and dies in whatever order: two people for each covered decision, and each once', async () => {
  let effects = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const world = new World();
      for (const code of CODES) await receive(world.store, code, world.clock);
      await world.rule(['approve', 'sign_term', 'disburse'], 0, 'Ana');
      for (const one of steps) {
        world.nextMinute();
        if ('acts' in one) await Promise.all(one.acts.map((each) => world.act(each)));
        else if ('names' in one) await world.rule(one.names, one.from, one.person);
        else {
          const mortal = new MortalEventStore(world.store, one.at, one.death);
          await Promise.race([world.act(one.act, mortal), mortal.died]);
        }
      }
      effects += new Witness(world.store.all).effects;
      world.nextMinute();
      // What is left awaiting can be confirmed by somebody who had no part in it, and then nothing is.
      const left = await world.desk().confirmations.awaiting(FUND);
      for (const { firstDecisionId: first } of left) {
        const answer = await second(world.desk(), 'confirm', { name: 'Zoe' }, { first, id: `Z-${first}` });
        expect([first, told(answer)]).toEqual([first, 'applied']);
      }
      expect(await world.desk().confirmations.awaiting(FUND)).toEqual([]);
      expect(new Witness(world.store.all).effects).toBeGreaterThanOrEqual(0);
      for (const code of CODES) expect(await audited(world.store, code)).toEqual([]);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  expect(effects).toBeGreaterThan(RUNS / 8);
});
