import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deskLine } from '../../../domain/desk/line.ts';
import type { DeskEntry, DeskVisitor } from '../../../domain/desk/line.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import type { Cents } from '../../../domain/shared/money.ts';

const at = '2026-11-25T12:00:00.000Z' as Timestamp;
const ana: DeskVisitor = { way: 'console', name: 'Ana' };
const ID = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';

test('a line says who, and what by ids and codes', () => {
  const who: DeskVisitor = { ...ana, issuer: 'https://login.example', subject: '4711' };
  const entry: DeskEntry = {
    ...{ action: 'decided', outcome: 'applied', applicationId: 'acme', code: 'OP-1' },
    ...{ decision: 'disburse', decisionId: 'D-2026-0004', sum: 180_000 as Cents },
  };
  expect(deskLine(who, entry, { at, known: { fundId: ID } })).toEqual({
    ...{ type: 'DeskLineWritten', at, ...who, ...entry, fundId: ID },
  });
  expect(deskLine(ana, { action: 'signed_in' }, { at })).toEqual({
    ...{ type: 'DeskLineWritten', at, ...ana, action: 'signed_in', outcome: 'done' },
  });
});

test('what was typed and is no id, no code and no operation stands in no line', () => {
  const typed = fc.oneof(
    fc.constantFrom('Joana Prado', '52998224725', '529.982.247-25', 'joana@example.com', `${ID} Joana`, ''),
    fc.string().filter((text) => !/^[a-z][a-z0-9_]*$/.test(text)),
  );
  fc.assert(
    fc.property(typed, (text) => {
      const entry: DeskEntry = {
        ...{ action: 'refused', outcome: 'refused', reason: text, applicationId: text, fundId: text },
        ...{ code: text, documentId: text, decision: text, decisionId: text },
      };
      expect(deskLine(ana, entry, { at })).toEqual({
        ...{ type: 'DeskLineWritten', at, ...ana, action: 'refused', outcome: 'refused' },
      });
    }),
  );
});

test('the id of a decision that was not carried out stands in it where it is a UUID', () => {
  const refused = (decisionId: string) =>
    deskLine(ana, { action: 'refused', outcome: 'refused', decisionId }, { at }).decisionId;
  expect([refused(ID), refused('52998224725')]).toEqual([ID, undefined]);
});
