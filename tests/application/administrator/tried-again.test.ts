import { expect, test } from '@jest/globals';
import { decisionStreamOf, loanStream } from '../../../application/command-handling/operation.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { fixedClock } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { Random } from '../../support/random.ts';
import {
  APPLICATION,
  VALUE,
  ana,
  audited,
  deskOver,
  receive,
  ruleOf,
  setRule,
  typesOf,
} from '../../support/two-people-desk.ts';

const LIVES = 300;
const OPERATIONS = ['OP-1', 'OP-2', 'OP-3'];
const RULE = ruleOf('stated', ['approve', 0], ['reject', 0], ['disburse', 0]);
const DETAILS: Readonly<Record<string, object>> = {
  approve: {},
  sign_term: {},
  reject: { reasons: [{ code: 'fraud', message: 'forged' }] },
  disburse: { disbursement_date: '2026-06-20', disbursed_value: VALUE },
};

/** A store that is away now and then, before or after it has stored. */
class Moody extends InMemoryEventStore {
  chance: () => boolean = () => false;

  override async append(...asked: Parameters<InMemoryEventStore['append']>) {
    if (this.chance()) throw new StoreUnavailableError('away');
    const appended = await super.append(...asked);
    if (this.chance()) throw new OutcomeUnknownError('lost on the way');
    return appended;
  }

  override async head(stream: string) {
    if (this.chance()) throw new StoreUnavailableError('away');
    return super.head(stream);
  }
}

const oneOf = <Item>(random: Random, items: readonly Item[]): Item => items[random.below(items.length)]!;

/** In any order, some of them twice, some of them about others of them, some malformed. */
const textsOf = (random: Random): readonly string[] => {
  const [texts, firsts]: [string[], { code: string; id: string; text: string }[]] = [[], []];
  for (let n = 3 + random.below(20); n > 0; n--) {
    const [code, id] = [oneOf(random, OPERATIONS), `D-${n}`];
    const before = firsts.filter((one) => one.code === code);
    const common = { decision_id: id, operator: oneOf(random, ['Ana', 'Bia', 'Caio']) };
    const kind = random.below(12);
    if (kind === 0) texts.push('{');
    else if (kind < 3 && before.length > 0) texts.push(oneOf(random, before).text);
    else if (kind < 7 && before.length > 0) {
      const decision = random.chance(0.75) ? 'confirm' : 'withdraw';
      texts.push(JSON.stringify({ ...common, decision, first_decision_id: oneOf(random, before).id }));
    } else {
      const decision = oneOf(random, Object.keys(DETAILS));
      const operation = { application_id: APPLICATION, originator_proposal_code: code };
      const text = JSON.stringify({ ...common, ...operation, decision, ...DETAILS[decision] });
      firsts.push({ code, id, text });
      texts.push(text);
    }
  }
  return texts;
};

/** What is stored of the operations, what lies in the dead letter, and what an audit finds. */
const processed = async (texts: readonly string[], hasRule: boolean, fails: () => boolean) => {
  const store = new Moody();
  const desk = deskOver(store, fixedClock(), OPERATIONS);
  for (const code of OPERATIONS) await receive(store, code);
  if (hasRule) await setRule(desk, RULE, ana, 'R-1');
  const letters: string[] = [];
  const received = texts.map((text, n) => ({ text, origin: String(n).padStart(2, '0') }));
  const failing = async (): Promise<void> => {
    if (fails()) throw new Error('away');
  };
  const deadLetters = {
    put: (refused: { readonly origin: string }) => failing().then(() => void letters.push(refused.origin)),
  };
  store.chance = fails;
  for (let done = false; !done;)
    done = await desk.process(received, { deadLetters, record: failing }).then(
      () => true,
      () => false,
    );
  store.chance = () => false;
  const streams = OPERATIONS.map((code) => loanStream(APPLICATION, code));
  const stored = streams.flatMap((stream) => [stream, decisionStreamOf(stream)]);
  return {
    stored: await Promise.all(stored.map((stream) => typesOf(store, stream))),
    letters: letters.sort(),
    found: (await Promise.all(OPERATIONS.map((code) => audited(store, code)))).flat(),
  };
};

test('decisions that came together end alike, in their order and once, however often a store is away meanwhile', async () => {
  let failures = 0;
  for (let seed = 1; seed <= LIVES; seed++) {
    const texts = textsOf(new Random(seed));
    const hasRule = seed % 3 !== 0;
    const moods = new Random(seed);
    let calm = 40;
    const fails = (): boolean => {
      const now = calm > 0 && moods.chance(0.08);
      if (now) [calm, failures] = [calm - 1, failures + 1];
      return now;
    };
    const undisturbed = await processed(texts, hasRule, () => false);
    expect({ seed, ...(await processed(texts, hasRule, fails)) }).toEqual({ seed, ...undisturbed });
    expect(undisturbed.found).toEqual([]);
  }
  expect(failures).toBeGreaterThan(LIVES);
});
