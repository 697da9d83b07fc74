import { describe, expect, jest, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { commandHandler, fixedClock } from '../../support/application-parts.ts';
import { FaultyEventStore, MortalEventStore } from '../../support/faulty-event-store.ts';
import type { Death } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  ana,
  audited,
  bia,
  decide,
  decisionsOf,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  told,
  typesOf,
} from '../../support/two-people-desk.ts';

const CODES = ['OP-1'];
const prepared = async (): Promise<InMemoryEventStore> => {
  const store = new InMemoryEventStore();
  await receive(store, 'OP-1');
  await setRule(deskOver(store), ruleOf('stated', ['approve', 0]), ana);
  return store;
};
const over = (store: EventStore): Administrator => deskOver(store, fixedClock(), CODES);

/** What a process does until it dies at this append. */
const killed = async (
  store: InMemoryEventStore,
  at: number,
  death: Death,
  work: (desk: Administrator) => Promise<unknown>,
): Promise<void> => {
  const mortal = new MortalEventStore(store, at, death);
  await Promise.race([work(over(mortal)), mortal.died]);
};

describe('a process that dies', () => {
  test.each<Death>(['before', 'after'])('%s the first decision leaves it to be sent again', async (death) => {
    const store = await prepared();
    await killed(store, 1, death, (desk) => decide(desk, 'approve', ana));
    expect(await decisionsOf(store)).toEqual(death === 'before' ? [] : ['awaiting']);
    expect(told(await decide(over(store), 'approve', ana))).toBe('awaiting_confirmation');
    expect(await decisionsOf(store)).toEqual(['awaiting']);
    expect(told(await second(over(store), 'confirm', bia))).toBe('applied');
    expect(await audited(store)).toEqual([]);
  });

  test.each<[number, Death, decisions: readonly string[], operation: readonly string[]]>([
    [1, 'before', ['awaiting'], ['received']],
    [1, 'after', ['awaiting', 'confirmed'], ['received']],
    [2, 'before', ['awaiting', 'confirmed'], ['received']],
    [2, 'after', ['awaiting', 'confirmed'], ['received', 'approved']],
  ])(
    'at append %i of a confirmation, %s it, neither doubles nor loses it',
    async (at, death, decisions, operation) => {
      const store = await prepared();
      await decide(over(store), 'approve', ana);
      await killed(store, at, death, (desk) => second(desk, 'confirm', bia, { first: 'D-approve', id: 'S' }));
      expect([await decisionsOf(store), await typesOf(store)]).toEqual([decisions, operation]);
      const done = operation.length === 2;
      const awaits = await over(store).confirmations.awaiting();
      expect(awaits.map(({ firstDecisionId }) => firstDecisionId)).toEqual(done ? [] : ['D-approve']);
      // Nobody gets round it meanwhile, and it is not taken back once it is confirmed.
      if (!done) expect(told(await second(over(store), 'confirm', ana))).toBe('own_decision');
      if (decisions.length === 2)
        expect(told(await second(over(store), 'withdraw', ana))).toBe('decision_void');
      expect(told(await second(over(store), 'confirm', bia, { first: 'D-approve', id: 'S' }))).toBe(
        done ? 'already_applied' : 'applied',
      );
      for (const id of ['S', 'T'])
        expect(told(await second(over(store), 'confirm', bia, { id }))).toBe('already_applied');
      expect(told(await decide(over(store), 'approve', ana))).toBe('already_applied');
      expect([await decisionsOf(store), await typesOf(store)]).toEqual([
        ['awaiting', 'confirmed'],
        ['received', 'approved'],
      ]);
      expect(await audited(store)).toEqual([]);
    },
  );

  test('between the two, and another decision on the operation meanwhile, leaves what was confirmed void', async () => {
    const store = await prepared();
    await decide(over(store), 'approve', ana);
    await killed(store, 2, 'before', (desk) => second(desk, 'confirm', bia));
    const reasons = [{ code: 'fraud', message: 'forged' }];
    expect(told(await decide(over(store), 'reject', ana, { reasons }))).toBe('applied');
    expect(told(await second(over(store), 'confirm', bia))).toBe('decision_void');
    expect(await typesOf(store)).toEqual(['received', 'rejected']);
    expect(await audited(store)).toEqual([]);
  });

  test('or is slow: what happens to the operation between a confirmation and its effect voids it', async () => {
    const store = await prepared();
    await decide(over(store), 'approve', ana);
    const append = store.append.bind(store);
    jest.spyOn(store, 'append').mockImplementation(async (stream, expected, events, claim) => {
      const appended = await append(stream, expected, events, claim);
      if (events[0]!.type === 'decision.confirmed.v1')
        await commandHandler(store).handle({
          ...{ stream: 'loan-acme.OP-1', applicationId: 'acme', actor: 'client-1', correlationId: 'x' },
          decide: () => [{ type: 'DocumentsAdded', documents: [], addedAt: fixedClock().now() }],
        });
      return appended;
    });
    expect(told(await second(over(store), 'confirm', bia))).toBe('decision_void');
    expect(await typesOf(store)).toEqual(['received', 'documents_added']);
    expect(told(await decide(over(store), 'approve', ana, { id: 'B' }))).toBe('awaiting_confirmation');
    expect(await audited(store)).toEqual([]);
  });

  test.each<Death>(['before', 'after'])(
    '%s a rule is confirmed leaves it to be confirmed again',
    async (death) => {
      const store = await prepared();
      await setRule(over(store), ruleOf('stated'), ana, 'OFF');
      await killed(store, 1, death, (desk) => second(desk, 'confirm', bia, { first: 'OFF' }));
      const expected = death === 'before' ? 'applied' : 'already_applied';
      expect(told(await second(over(store), 'confirm', bia, { first: 'OFF' }))).toBe(expected);
      expect((await over(store).rules.current()).rules.values().next().value).toMatchObject({
        version: 2,
        decisions: [],
      });
      expect(await audited(store)).toEqual([]);
    },
  );
});

test.each([['answer_lost'], ['lost']] as const)(
  'a store that does not say what it did (%s) is asked again',
  async (fate) => {
    const store = await prepared();
    const faulty = () => new FaultyEventStore(store, [fate]);
    expect(told(await decide(over(faulty()), 'approve', ana))).toBe('awaiting_confirmation');
    expect(told(await second(over(faulty()), 'confirm', bia))).toBe('applied');
    expect([await decisionsOf(store), await typesOf(store)]).toEqual([
      ['awaiting', 'confirmed'],
      ['received', 'approved'],
    ]);
  },
);
