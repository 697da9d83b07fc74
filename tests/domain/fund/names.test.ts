import { describe, expect, test } from '@jest/globals';
import { fundNamesDecider } from '../../../domain/fund/names.ts';
import type { FundNamed, NameFund } from '../../../domain/fund/names.ts';
import type { FundId, Timestamp } from '../../../domain/shared/identifiers.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { specFor } from '../../support/decider-spec.ts';

const { given } = specFor(fundNamesDecider);
const A = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60' as FundId;
const B = '1b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f61' as FundId;
const NOW = '2026-06-20T12:00:00.000Z' as Timestamp;

const name = (fundId: FundId, text: string): NameFund => ({ type: 'NameFund', fundId, name: text, now: NOW });
const named = (fundId: FundId, text: string): FundNamed => ({
  type: 'FundNamed',
  fundId,
  name: text,
  namedAt: NOW,
});

describe('the name of a fund', () => {
  test('is given, and given anew', () => {
    given().when(name(A, 'Aurora')).then(named(A, 'Aurora'));
    given(named(A, 'Aurora')).when(name(A, 'Boreal')).then(named(A, 'Boreal'));
    given(named(A, 'Aurora')).when(name(A, 'AURORA')).then(named(A, 'AURORA'));
  });

  test('that it has already is nothing new', () => {
    given(named(A, 'Aurora')).when(name(A, 'Aurora')).thenNothing();
  });

  test.each(['Aurora', 'AURORA', 'Ａurora', 'Au\u200brora', 'Auro\u00adra'])(
    '%j is refused where another fund is called Aurora',
    (text) =>
      given(named(A, 'Aurora'))
        .when(name(B, text))
        .thenRefused('fund_not_allowed', /Aurora/),
  );

  test('may be that which another fund has no more', () => {
    given(named(A, 'Aurora'), named(A, 'Boreal')).when(name(B, 'aurora')).then(named(B, 'aurora'));
  });

  test('of one fund says nothing of another', () => {
    const names = stateAfter(fundNamesDecider, [named(A, 'Aurora'), named(B, 'Boreal'), named(A, 'Austral')]);
    expect([...names]).toEqual([
      [A, 'Austral'],
      [B, 'Boreal'],
    ]);
  });

  test.each(['x', 'é', 'FIDC "Ágil", S.A.', '信託基金', '🏦'.repeat(80)])('may be %j', (text) =>
    given().when(name(A, text)).then(named(A, text)),
  );

  test.each([
    ...['', ' ', '\u200b', 'a'.repeat(81), 'a\u0000', 'a\tb', 'a\nb', 'a\u007f', 'a\u0085', 'a\ud800'],
    ...['a\u202eb', 'a\u200f', 'a\u2066b', ' a', 'a ', B, B.toUpperCase()],
  ])('is never %j', (text) => given().when(name(A, text)).thenRefused('validation_error'));
});
