import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Methods } from '../../../clients/typescript/generate/operations.ts';
import type { Description } from '../../../clients/typescript/generate/operations.ts';
import { declarationOf, typeOf } from '../../../clients/typescript/generate/types.ts';
import manifest from '../../../clients/typescript/package.json' with { type: 'json' };
import { openApiDocument } from '../../../infrastructure/http/openapi/document.ts';
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';

const description = openApiDocument({
  publicUrl: 'https://a',
  authUrl: 'https://a',
}) as unknown as Description;

test('the package has the version of the description, and needs no other package', () => {
  expect(manifest.version).toBe(API_VERSION);
  const page = readFileSync(new URL('../../../clients/typescript/README.md', import.meta.url), 'utf8');
  expect(page).toContain(`${manifest.name}-${API_VERSION}.tgz`);
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
});

test('every schema becomes a type that says something', () => {
  const { schemas } = description.components;
  const declared = Object.keys(schemas).map((name) => declarationOf(name, schemas));
  expect(declared.filter((text) => /\bunknown\b/.test(text.replace('Record<string, unknown>', '')))).toEqual(
    [],
  );
  expect(declared.join('')).toContain(`export interface LoanApprovedEvent extends EventEnvelope {
  /** Name of the event. */
  event: "loan_approved";`);
});

test.each([
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'array', items: { enum: ['a', 1] } }, '("a" | 1)[]'],
  [{ anyOf: [{ $ref: '#/components/schemas/Error' }, { type: 'integer' }] }, 'Refusal | number'],
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{}, 'unknown'],
])('%j is %s', (schema, type) => expect(typeOf(schema)).toBe(type));

describe('methods', () => {
  const methods = new Methods(description);
  const textOf = (id: string): string => {
    for (const [path, operations] of Object.entries(description.paths))
      for (const [method, operation] of Object.entries(operations))
        if (operation.operationId === id) return methods.of({ path, method, operation });
    throw new Error(id);
  };

  test('every operation becomes one under its own name', () => {
    for (const operations of Object.values(description.paths))
      for (const { operationId } of Object.values(operations))
        expect(textOf(operationId)).toContain(`  async ${operationId}(`);
  });

  test('with its key, its two answers, and whether it may be sent again', () => {
    const text = textOf('settleInstallment');
    expect(text).toContain("(body: Keyed<Settlement, 'idempotency_key'>, options?: CallOptions)");
    expect(text).toContain('Promise<SettlementQuote>;');
    expect(text).toContain("idempotent: true, json: withKey(body, 'idempotency_key')");
    expect(textOf('createWebhook')).toContain('idempotent: false');
    expect(textOf('decideInSandbox')).toContain("withKey(body, 'decision_id')");
    expect(textOf('settleBatch')).toContain("body.settlements.map((one) => withKey(one, 'idempotency_key'))");
  });

  test('with files beside JSON where an operation takes both, and iterators beside lists', () => {
    expect(textOf('renegotiateLoans')).toContain(
      'async renegotiateLoansWithFiles(body: RenegotiationData, files',
    );
    expect(textOf('listLoans')).toContain('allLoans(query: ListLoansQuery = {}, options?');
    expect(textOf('listEvents')).toContain('followEvents(query: ListEventsQuery = {}, options');
    expect(textOf('listWebhooks')).not.toContain('allWebhooks');
  });
});
