import { beforeEach, describe, expect, test } from '@jest/globals';
import { FUND_NAMES_STREAM } from '../../../application/command-handling/operation.ts';
import { findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import { EarlierReleaseError } from '../../../application/event-codec/stored-formats.ts';
import { OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { BESIDE_EARLIER } from '../../support/application-parts.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

const [A, B, C] = ['0', '1', '2'].map((digit) => `${digit}b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60`) as [
  string,
  string,
  string,
];
let events: InMemoryEventStore;
beforeEach(() => {
  events = new InMemoryEventStore();
});

const stored = async () => (await events.read(FUND_NAMES_STREAM)).events;
const of = (fundId: string, name: string) => ({ fundId, name, operator: 'Ana' });

describe('naming', () => {
  test('is an event of its own, chained to the one before, that says who named which fund', async () => {
    const funds = fundsOver({ events });
    await funds.name(of(A, 'Aurora'));
    await funds.name(of(B, 'Boreal'));
    const all = await stored();
    expect(findBrokenLink(FUND_NAMES_STREAM, all)).toBe(-1);
    expect(all.map(({ type, metadata }) => [type, metadata.actor, metadata.fundId])).toEqual([
      ['fund.named.v1', 'administrator/Ana', A],
      ['fund.named.v1', 'administrator/Ana', B],
    ]);
  });

  test('with the name that it has stores nothing', async () => {
    const funds = fundsOver({ events });
    await funds.name(of(A, 'Aurora'));
    await funds.name(of(A, 'Aurora'));
    expect(await stored()).toHaveLength(1);
  });

  test('two funds alike at once leaves one of them without the name', async () => {
    const outcomes = await Promise.allSettled(
      [A, B, C].map((fundId) => fundsOver({ events }).name(of(fundId, 'Aurora'))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(DomainError);
    expect(await stored()).toHaveLength(1);
  });

  test('different ones at once names them all', async () => {
    await Promise.all([A, B, C].map((fundId, i) => fundsOver({ events }).name(of(fundId, `Fund ${i}`))));
    expect(await fundsOver({ events }).names()).toEqual(
      new Map([
        [A, 'Fund 0'],
        [B, 'Fund 1'],
        [C, 'Fund 2'],
      ]),
    );
  });

  test('is repeated where its outcome is unknown, and stored once', async () => {
    let failed = false;
    const shaky: EventStore = {
      read: (stream) => events.read(stream),
      head: (stream) => events.head(stream),
      findClaim: (claim) => events.findClaim(claim),
      append: async (...append) => {
        const result = await events.append(...append);
        if (failed) return result;
        failed = true;
        throw new OutcomeUnknownError('no answer');
      },
    };
    await fundsOver({ events: shaky }).name(of(A, 'Aurora'));
    expect(await stored()).toHaveLength(1);
  });

  test('is refused while a release may run that knows no names', async () => {
    const naming = fundsOver({ events, formats: BESIDE_EARLIER }).name(of(A, 'Aurora'));
    await expect(naming).rejects.toThrow(EarlierReleaseError);
    await expect(naming).rejects.toThrow('upgrade finish');
    expect(await stored()).toEqual([]);
  });
});

test('a fund is found by its id, where it is known, and by its exact name', async () => {
  const loans = { knowsFund: (id: string) => Promise.resolve(id === A) };
  const funds = fundsOver({ events, loans: () => loans });
  await funds.name(of(A, 'Aurora'));
  await funds.name(of(C, 'Boreal'));
  expect(
    await Promise.all([A, A.toUpperCase(), 'Aurora', 'aurora', B, C, ''].map((one) => funds.find(one))),
  ).toEqual([A, A, A, undefined, undefined, C, undefined]);
});

test('the list has what is linked and what has a name', async () => {
  const funds = fundsOver({ events, clients: () => ({ funds: () => Promise.resolve([C, A]) }) });
  await funds.name(of(A, 'Aurora'));
  await funds.name(of(B, 'Boreal'));
  expect(await funds.list()).toEqual([
    { fundId: A, name: 'Aurora' },
    { fundId: B, name: 'Boreal' },
    { fundId: C, name: null },
  ]);
});
