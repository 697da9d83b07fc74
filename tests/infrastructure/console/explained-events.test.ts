import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { AMOUNT_FIELDS } from '../../../application/event-codec/amount-fields.ts';
import { explainPrice } from '../../../application/audit/explained-price.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent } from '../../../domain/loan/index.ts';
import { written } from '../../../infrastructure/console/html.ts';
import { priceView } from '../../../infrastructure/console/pages/operation/schedule.ts';
import { speakingIn } from '../../../infrastructure/console/language.ts';
import { PLAIN, priceText } from '../../../infrastructure/presenting/explained-price.ts';
import { recordedPairs } from '../../../infrastructure/console/pages/operation/timeline.ts';
import { FIELDS } from '../../../infrastructure/console/pages/operation/recorded-texts.ts';

const folder = join(import.meta.dirname, '../../fixtures/stored-events');
const fixtures = readdirSync(folder)
  .filter((file) => /^(loan|installment)\./.test(file))
  .map((file) => {
    const { stored, event } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      readonly stored: Readonly<Record<string, unknown>>;
      readonly event: LoanEvent;
    };
    // As `ShowOperation` hands it on: without the borrower.
    const { borrower: _, ...payload } = stored;
    return { file, payload, event };
  });

/** Numbers that are no amounts. */
const COUNTS = new Set(['late_days', 'size', 'revision', 'rule_version']);
const fieldsOf = (value: unknown): readonly (readonly [string, unknown])[] => {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [[name, one] as const, ...fieldsOf(one)]);
};

describe.each(fixtures)('$file', ({ payload, event }) => {
  test('has a name for each field, and each of its numbers is an amount or a count', () => {
    for (const [name, value] of fieldsOf(payload)) {
      if (name === 'sealed') continue;
      expect([name, FIELDS[name]]).toEqual([name, expect.any(String)]);
      if (typeof value === 'number')
        expect([name, AMOUNT_FIELDS.has(name) || COUNTS.has(name)]).toEqual([name, true]);
    }
  });

  test('is shown in Portuguese without field names of the interface, and its cents as amounts', () => {
    const pairs = recordedPairs(payload);
    const shown = pairs.map(([name, value]) => `${name}: ${written(value)}`).join('\n');
    for (const [name, value] of fieldsOf(payload)) {
      if (name.includes('_')) expect(shown).not.toContain(`${name}`);
      if (typeof value !== 'number' || !AMOUNT_FIELDS.has(name)) continue;
      expect(shown).toContain((value / 100).toLocaleString('pt-BR', { minimumFractionDigits: 2 }));
    }
    expect(shown.replaceAll(/<[^>]*>/g, '')).not.toMatch(/[{}"]/);
    if (JSON.stringify(payload).includes('"credit"')) expect(shown).toContain('R$ 474,3643875750');
  });

  test('tells how its price came about in either language, in reais', () => {
    const price = explainPrice(event, loanDecider.initialState);
    if (!price) return;
    const [portuguese, english] = (['pt-BR', 'en'] as const).map((language) =>
      speakingIn(language, () => written(priceView(event, price))),
    );
    expect(portuguese).not.toMatch(/lang="en"|Centavos|\b(value|paid|received|with|installment)\b/);
    expect(english).not.toMatch(/Cents|\bvalor\b/);
    for (const step of priceText(event, price, PLAIN).steps)
      if (/\d\.\d\d/.test(step)) expect(step).toContain('R$ ');
  });
});

test('what is carried is in reais with all its digits, each column with its unit', () => {
  const { event } = fixtures.find(({ file }) => file === 'loan.received.v1.json')!;
  const shown = written(priceView(event, explainPrice(event, loanDecider.initialState)!));
  for (const column of ['Valor (R$)', 'Levado à data (R$)', 'Soma acumulada (R$)'])
    expect(shown).toContain(column);
  expect(shown).toContain('>950,00<');
  expect(shown).toMatch(/>9\d\d,\d{20,}</);
});
