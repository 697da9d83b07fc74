import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../../../application/schemas/parse-json.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';

const refusalOf = (text: string): DomainError => {
  try {
    parseJson(text, 'loan_data');
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

describe('broken JSON', () => {
  test.each([
    ['{"a": 1,\n "b": 2,\n}', 3, 1, 'a name in double quotes is expected here'],
    ['{"a": 1\n "b": 2}', 2, 2, 'a comma or } is expected here'],
    ['{"a": [1 2]}', 1, 10, 'a comma or ] is expected here'],
    ['{"a" 1}', 1, 6, 'a colon is expected here'],
    ['{a: 1}', 1, 2, 'a name in double quotes or } is expected here'],
    ["{'a': 1}", 1, 2, 'a name in double quotes or } is expected here'],
    ['{"a": tru}', 1, 7, 'a value is expected here'],
    ['[1,]', 1, 4, 'a value is expected here'],
    ['{"a": 01}', 1, 8, 'a comma or } is expected here'],
    ['{"a": 1.}', 1, 8, 'a comma or } is expected here'],
    ['{"a": "x\ny"}', 1, 9, 'a control character or a wrong escape stands in a text here'],
    ['{"a": "x\\q"}', 1, 9, 'a control character or a wrong escape stands in a text here'],
    ['{"a": "\\u00g0"}', 1, 8, 'a control character or a wrong escape stands in a text here'],
    ['{"a": 1} x', 1, 10, 'nothing may follow'],
    ['{"a": 1}}', 1, 9, 'nothing may follow'],
    ['{"a": [1}', 1, 9, 'a comma or ] is expected here'],
    ['{"a": 1', 1, 8, 'it ends too early'],
    ['{"a": "x', 1, 9, 'it ends too early'],
    ['{"a":\r\n', 2, 1, 'it ends too early'],
    ['  ', 1, 3, 'it ends too early'],
    ['{"a": 1,\u00a0"b": 2}', 1, 9, 'a name in double quotes is expected here'],
    ['undefined', 1, 1, 'a value is expected here'],
  ])('%j is told with line and column', (text, line, column, why) => {
    const message = `loan_data is not valid JSON at line ${line}, column ${column}: ${why}`;
    expect(refusalOf(text)).toMatchObject({ code: 'invalid_request', message });
  });

  test('a byte order mark is named', () => {
    expect(refusalOf('\ufeff{"a": 1}')).toMatchObject({
      code: 'invalid_request',
      message: 'loan_data begins with a byte order mark (BOM); send it without',
    });
  });
});

test('a body of more values than any request has is refused before it is parsed', () => {
  const named = Array.from({ length: 20_001 }, (_, i) => `"${i}":1`).join(',');
  expect(refusalOf(`{${named}}`).message).toContain('more than 40000 commas and colons');
  expect(parseJson(`[${Array.from({ length: 40_001 }, () => 1).join(',')}]`, 'loan_data')).toHaveLength(
    40_001,
  );
  expect(parseJson(`["${',:'.repeat(40_000)}"]`, 'loan_data')).toHaveLength(1);
});

const repeated = (field: string) => ({
  code: 'invalid_request',
  details: [{ field, code: 'duplicate_field' }],
});

describe('an object with one key twice', () => {
  test.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"b":2,"a":null}', 'a'],
    ['{"a":{"b":1,"c":2,"b":3}}', 'a.b'],
    ['{"a":[{"b":1},{"c":2},{"b":1,"b":2}]}', 'a[2].b'],
    ['[[{}, {"x":1,"x":2}]]', '[0][1].x'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{"a/b":1,"a\\/b":2}', 'a/b'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"":1,"":2}', ''],
    ['{"1":1,"1":2}', '1'],
    ['{"a":"\\"b\\":1,","c":":{}","c":1}', 'c'],
    ['{"amount":0.12345678901234567890,"amount":1}', 'amount'],
    ['{"a":{"b":1},"a":{"c":2}}', 'a'],
    ['{"a":{"b":{"c":1}}, "d":[{"a":1}], "x": 1, "d":[]}', 'd'],
  ])('%s is refused by its path', (text, field) => {
    expect(refusalOf(text)).toMatchObject(repeated(field));
  });

  test('the refusal says where the second one stands', () => {
    expect(refusalOf('{"a": 1,\n "b": 2,\n "a": 3}').message).toBe(
      'loan_data holds a twice, the second time at line 3, column 2; send each name of an object once',
    );
  });

  test('long names are not sent back in full', () => {
    const name = 'x'.repeat(100_000);
    const refusal = refusalOf(`{"${name}":1,"${name}":2}`);
    expect(JSON.stringify([refusal.message, refusal.details]).length).toBeLessThan(1_000);
  });

  test.each([
    '{}',
    '[]',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":":","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"A":1,"a":2,"á":3,"a\\u0301":4}',
    '{"a":0.12345678901234567890,"b":[1,[2,[{"c":":"}]]]}',
    '"a:b"',
    '{"a\\\\":1,"a\\"":2,"a":3}',
  ])('%s has none', (text) => {
    expect(parseJson(text, 'body')).toBeDefined();
  });
});

describe('whatever text comes', () => {
  const keys = fc.constantFrom('a', 'b', '\\u0061', 'a":', '');
  const value = fc.letrec<{ readonly value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('1', '-0.5e+3', 'true', 'null', '"x"', '":"', '"\\\\"', '0.12345678901234567890'),
      fc.array(tie('value')).map((entries) => `[${entries.join(', ')}]`),
      fc
        .array(fc.tuple(keys, tie('value')))
        .map((members) => `{${members.map(([name, one]) => `"${name}":${one}`).join(',\n')}}`),
    ),
  })).value;
  const cut = fc.tuple(
    value,
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom('', '"', '}', ',', ':', '\\', '1'),
  );

  /** Every name of every object, as a reader without any parser would find them. */
  const hasRepetition = (text: string): boolean => {
    const seen: Set<string>[] = [];
    for (const [token, key] of text.matchAll(/[{}[\]]|("(?:[^"\\]|\\.)*")(\s*:)?/g)) {
      if (token === '{' || token === '[') seen.push(new Set());
      else if (token === '}' || token === ']') seen.pop();
      else if (token.endsWith(':') && key !== undefined) {
        const name = JSON.parse(key) as string;
        if (seen.at(-1)!.has(name)) return true;
        seen.at(-1)!.add(name);
      }
    }
    return false;
  };

  const parses = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  test('what JSON.parse refuses is told with a place, what holds a name twice with the name, the rest is taken', () => {
    fc.assert(
      fc.property(cut, ([whole, from, length, put]) => {
        const at = from % (whole.length + 1);
        const text = whole.slice(0, at) + put + whole.slice(at + length);
        if (text === '') return;
        if (!parses(text)) expect(refusalOf(text).message).toMatch(/ line \d+, column \d+[:;]/);
        else if (hasRepetition(text)) expect(refusalOf(text).details).toHaveLength(1);
        else expect(parseJson(text, 'body')).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
  });
});
