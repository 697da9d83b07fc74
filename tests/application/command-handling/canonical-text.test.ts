import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalText } from '../../../application/command-handling/operation.ts';

type Contents = Parameters<typeof canonicalText>[0];

const name = fc.stringMatching(/^[a-z][A-Za-z0-9]{0,6}$/);
const { contents } = fc.letrec<{ contents: Contents }>((tie) => ({
  contents: fc.oneof(
    { depthSize: 'small' },
    ...[
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.constantFrom(null, undefined),
    ],
    fc.array(tie('contents'), { maxLength: 4 }),
    fc.dictionary(name, tie('contents'), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

const isObject = (value: Contents): value is { readonly [field: string]: Contents } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const turned = (value: Contents): Contents => {
  if (Array.isArray(value)) return (value as readonly Contents[]).map(turned);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([field, part]) => [field, turned(part)]),
  );
};

const fieldNames = (value: unknown): string[][] => {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(fieldNames);
  return Array.isArray(value) ? below : [Object.keys(value), ...below];
};

describe('the text that fingerprints are made of', () => {
  test('is the one that stored fingerprints were made of', () => {
    const contents = {
      fundId: 'F',
      code: 'OP "1"',
      acquisitionValue: 180_000,
      borrower: { name: 'Zoë', email: undefined, address: { street: 'Avenida\u2028Paulista', Number: '1' } },
      installments: [{ dueDate: '2026-02-15', faceValue: 95_000, code: '001' }, undefined, null, true],
    };
    expect(canonicalText(contents)).toBe(
      '{"acquisitionValue":180000,"borrower":{"address":{"Number":"1","street":"Avenida\u2028Paulista"},"name":"Zoë"},' +
        '"code":"OP \\"1\\"","fundId":"F","installments":[{"code":"001","dueDate":"2026-02-15","faceValue":95000},null,null,true]}',
    );
    expect(canonicalText(undefined)).toBe('null');
  });

  test('holds the same contents, with every field in its place, whatever order they came in', () => {
    fc.assert(
      fc.property(contents, (value) => {
        const text = canonicalText(value);
        expect(canonicalText(turned(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value ?? null)));
        for (const names of fieldNames(JSON.parse(text))) expect(names).toEqual(names.toSorted());
      }),
    );
  });
});
