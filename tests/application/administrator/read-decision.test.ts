import { describe, expect, test } from '@jest/globals';
import { fingerprintOf } from '../../../application/administrator/decisions.ts';
import { readDecision } from '../../../application/administrator/read-decision.ts';
import type { SubmittedDecision } from '../../../application/administrator/decisions.ts';
import { MOST_MS, mainThreadCost } from '../../support/main-thread-cost.ts';

const approve = {
  decision_id: 'D-1',
  application_id: 'acme',
  originator_proposal_code: 'OP-1',
  decision: 'approve',
};
const reject = { ...approve, decision: 'reject', reasons: [{ code: 'fraud', message: 'A forged invoice' }] };
const disburse = {
  ...approve,
  decision: 'disburse',
  disbursement_date: '2026-01-15',
  disbursed_value: 1800.5,
};
const read = (fields: object): SubmittedDecision => {
  const reading = readDecision(JSON.stringify(fields));
  if (reading.kind !== 'read') throw new Error(`it was ${reading.kind}`);
  return reading.decision;
};
const complaintsOf = (text: string): readonly string[] => {
  const reading = readDecision(text);
  if (reading.kind !== 'malformed') throw new Error('it was read');
  return reading.reason.details.map(({ field, code }) => `${field} ${code}`);
};

describe('a decision in JSON', () => {
  test('is read with its operation, and a disbursement in cents', () => {
    expect(
      read({ ...approve, decided_at: '2026-01-15T09:00:00-03:00', note: 'by the committee', more: 1 }),
    ).toEqual({
      decisionId: 'D-1',
      applicationId: 'acme',
      code: 'OP-1',
      decision: 'approve',
      decidedAt: '2026-01-15T12:00:00.000Z',
      note: 'by the committee',
    });
    expect(read(disburse)).toMatchObject({ disbursementDate: '2026-01-15', disbursedValue: 180_050 });
    expect(read(reject)).toMatchObject({ reasons: [{ code: 'fraud', message: 'A forged invoice' }] });
  });

  test('a name that stands in it twice is told, and no decision', () => {
    const twice = JSON.stringify(disburse).replace(
      '"disbursed_value":',
      '"disbursed_value":1,"disbursed_value":',
    );
    expect(complaintsOf(twice)).toEqual(['disbursed_value duplicate_field']);
    const reason = JSON.stringify(reject).replace('"message"', '"code":"other","message"');
    expect(complaintsOf(reason)).toEqual(['reasons[0].code duplicate_field']);
  });

  test.each<[string, object, string]>([
    ['no id', { ...approve, decision_id: undefined }, 'decision_id required'],
    ['an id with a space', { ...approve, decision_id: 'D 1' }, 'decision_id invalid_format'],
    ['an id of 101 characters', { ...approve, decision_id: 'x'.repeat(101) }, 'decision_id invalid_format'],
    ['an application with a dot', { ...approve, application_id: 'a.b' }, 'application_id invalid_format'],
    [
      'a code with a slash',
      { ...approve, originator_proposal_code: 'a/b' },
      'originator_proposal_code invalid_format',
    ],
    ['half a surrogate pair', { ...approve, note: 'a\ud800' }, 'note invalid_format'],
    ['NUL', { ...approve, note: 'a\u0000' }, 'note invalid_format'],
    [
      'a reason that is broken Unicode',
      { ...reject, reasons: [{ code: 'x', message: '\udc00' }] },
      'reasons[0].message invalid_format',
    ],
    ['an unknown decision', { ...approve, decision: 'postpone' }, 'decision invalid_value'],
    ['a rejection without reasons', { ...reject, reasons: undefined }, 'reasons required'],
    ['a rejection with no reason at all', { ...reject, reasons: [] }, 'reasons invalid_value'],
    [
      'a reason without a message',
      { ...reject, reasons: [{ code: 'fraud' }] },
      'reasons[0].message required',
    ],
    ['an approval with reasons', { ...approve, reasons: reject.reasons }, 'reasons invalid_value'],
    [
      'a disbursement without its day',
      { ...disburse, disbursement_date: undefined },
      'disbursement_date required',
    ],
    [
      'a day that does not exist',
      { ...disburse, disbursement_date: '2026-02-30' },
      'disbursement_date invalid_date',
    ],
    ['an amount as text', { ...disburse, disbursed_value: '1800' }, 'disbursed_value invalid_amount'],
    ['an amount of nothing', { ...disburse, disbursed_value: 0 }, 'disbursed_value invalid_amount'],
    ['a value on an approval', { ...approve, disbursed_value: 1 }, 'disbursed_value invalid_value'],
    [
      'an instant without offset',
      { ...approve, decided_at: '2026-01-15T12:00:00' },
      'decided_at invalid_date',
    ],
    ['a leap second', { ...approve, decided_at: '2016-12-31T23:59:60Z' }, 'decided_at invalid_date'],
    ['a list', [approve], 'decision invalid_type'],
  ])('with %s is refused by the name of the field', (_, fields, complaint) => {
    expect(complaintsOf(JSON.stringify(fields))).toContain(complaint);
  });

  test('is refused with every broken field at once, under its own id', () => {
    const reading = readDecision(JSON.stringify({ decision_id: 'D-9', decision: 'no' }));
    expect(reading).toMatchObject({ kind: 'malformed', decisionId: 'D-9' });
    expect(complaintsOf('{"decision_id":"D-9","decision":"no"}')).toHaveLength(3);
  });

  test.each([
    ['a text of 200,000 characters', 'x'.repeat(200_000)],
    ['a text with a NUL', 'D\0'],
    ['a text with a space', 'D 1'],
  ])('names no id where %s stands in its place', (_, id) => {
    const reading = readDecision(JSON.stringify({ ...approve, decision_id: id }));
    expect(reading.kind).toBe('malformed');
    expect(reading).not.toHaveProperty('decisionId');
  });

  test.each(['', '{', 'null', '17', '"approve"', '{"a":1}{"b":2}'])('%j is no decision', (text) => {
    expect(readDecision(text).kind).toBe('malformed');
  });

  test('is told about in few words, and cheaply, however much of it is wrong', async () => {
    const many = JSON.stringify({ ...reject, reasons: Array.from({ length: 80_000 }, () => ({})) });
    const unknown = JSON.stringify(
      Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1])),
    );
    for (const text of [many, unknown, '['.repeat(260_000), `{"note":"${'x'.repeat(1_000_000)}"}`]) {
      const reading = readDecision(text);
      expect(reading.kind === 'malformed' && reading.reason.message.length).toBeLessThan(10_000);
      expect(await mainThreadCost(() => Promise.resolve(readDecision(text)))).toBeLessThan(MOST_MS);
    }
  });

  test('may be as long as its longest reasons, every character escaped', () => {
    const message = '\u{1F4B8}'.repeat(250);
    const longest = {
      ...reject,
      reasons: Array.from({ length: 20 }, (_, i) => ({ code: `c${i}`, message })),
    };
    const escaped = JSON.stringify(longest).replaceAll('\u{1F4B8}', '\\ud83d\\udcb8');
    expect(readDecision(escaped).kind).toBe('read');
  });

  test('does not let a double hide a third decimal', () => {
    const text = JSON.stringify(disburse).replace('1800.5', '900.0000000000000001');
    expect(complaintsOf(text)).toContain('disbursed_value invalid_amount');
  });
});

describe('the fingerprint of a decision', () => {
  test('is the same for the same contents in another order, under another id, in another time zone', () => {
    const decided = { ...reject, decided_at: '2026-01-15T09:00:00-03:00' };
    const turned = Object.fromEntries(
      Object.entries({ ...decided, decided_at: '2026-01-15T12:00:00Z' }).reverse(),
    );
    expect(fingerprintOf(read(turned))).toBe(fingerprintOf(read(decided)));
    expect(fingerprintOf(read({ ...approve, decision_id: 'D-2' }))).toBe(fingerprintOf(read(approve)));
  });

  test.each<[string, object, object]>([
    ['decision', approve, { ...approve, decision: 'sign_term' }],
    ['operation', approve, { ...approve, originator_proposal_code: 'OP-2' }],
    ['application', approve, { ...approve, application_id: 'other' }],
    ['note', approve, { ...approve, note: 'hm' }],
    ['reason', reject, { ...reject, reasons: [{ code: 'fraud', message: 'Another one' }] }],
    ['value', disburse, { ...disburse, disbursed_value: 1800.51 }],
    ['day', disburse, { ...disburse, disbursement_date: '2026-01-16' }],
  ])('is another for another %s', (_, one, other) => {
    expect(fingerprintOf(read(other))).not.toBe(fingerprintOf(read(one)));
  });
});
