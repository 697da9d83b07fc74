import { beforeAll, describe, expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApiDocument } from '../../../../infrastructure/http/openapi/document.ts';

type Json = ReturnType<typeof JSON.parse>;

const ADDRESSES = { publicUrl: 'https://api.receivables.test', authUrl: 'https://auth.receivables.test' };
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
/** Answers that belong to no operation: unknown paths, and methods that a path does not have. */
const OF_NO_OPERATION = ['NotFound', 'MethodNotAllowed'].map((name) => `#/components/responses/${name}`);
/** `event` is no id of a webhook, and `pause` and the like are none of an event: those addresses name one thing each. */
const AGREED_PATHS = '/webhook/event/{event_id}`';
/** The linter reads a schema as closed unless told otherwise; ours are open to fields that come later. */
const OPEN = { severity: 'error', allowAdditionalProperties: true } as const;

/** Optional fields of examples: what is kept and shown, but decides nothing; and where one of several has to be there. */
const ONLY_KEPT = [
  ...['email', 'phone', 'neighborhood', 'birth_date'].map((name) => `paths /loan post ${name}`),
  // What it is without it; a form that fills examples in would send an empty text for it.
  ...['/loan post', '/loan/renegotiate patch'].map((place) => `paths ${place} dry_run`),
  'paths /loan/repurchase post reason_detail',
  'paths /loan/renegotiate patch original_proposal_codes',
  'paths /webhook post description',
  'paths /webhook/{webhook_id} patch events',
  'paths /sandbox/clock post advance',
  // Instead of them the secret may come as HTTP Basic.
  ...['client_id', 'client_secret'].map((name) => `paths /token post ${name}`),
  // A form without files is refused.
  ...['/loan post', '/loan/files post', '/loan/renegotiate patch'].map((place) => `paths ${place} files`),
];

let document: Json;
beforeAll(() => {
  document = JSON.parse(JSON.stringify(openApiDocument(ADDRESSES)));
});

const lint = async (source: Json): Promise<readonly string[]> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      'no-invalid-media-type-examples': OPEN,
      'no-invalid-parameter-examples': OPEN,
      'no-invalid-schema-examples': OPEN,
      'operation-description': 'error',
      'tag-description': 'error',
      'parameter-description': 'error',
      'tags-alphabetical': 'off',
      'operation-singular-tag': 'error',
      'operation-tag-defined': 'error',
      'no-identical-paths': 'error',
      'no-http-verbs-in-paths': 'error',
      'spec-strict-refs': 'error',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(source), config });
  return problems
    .map(({ ruleId, message, location }) => ({ ruleId, message, place: location[0]?.pointer ?? '' }))
    .filter(({ ruleId, place }) => !(ruleId === 'no-unused-components' && OF_NO_OPERATION.includes(place)))
    .filter(({ ruleId, message }) => !(ruleId === 'no-ambiguous-paths' && message.includes(AGREED_PATHS)))
    .map(({ ruleId, message, place }) => `${ruleId} ${place}: ${message}`);
};

/** Operations of the paths, and the receiving side of the webhooks. */
const operations = (): { place: string; operation: Json; webhook: boolean }[] =>
  (['paths', 'webhooks'] as const).flatMap((section) =>
    Object.entries<Json>(document[section]).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => ({
        place: `${section} ${path} ${method}`,
        operation: item[method],
        webhook: section === 'webhooks',
      })),
    ),
  );

const resolved = (node: Json): Json =>
  node?.$ref
    ? String(node.$ref)
        .slice(2)
        .split('/')
        .reduce<Json>((at, segment) => at[segment], document)
    : node;

const hasExample = (node: Json): boolean =>
  node.example !== undefined || Object.keys(node.examples ?? {}).length > 0;

describe('the linter', () => {
  test('finds nothing', async () => {
    expect(await lint(document)).toEqual([]);
  });

  test('bites', async () => {
    const broken = structuredClone(document);
    broken.paths = {
      '/loan': broken.paths['/loan'],
      '/installment/settle': broken.paths['/installment/settle'],
    };
    delete broken.paths['/loan'].post.summary;
    broken.paths['/loan'].post.operationId = broken.paths['/loan'].get.operationId;
    broken.paths['/installment/settle'].post.requestBody.content['application/json'].example.settled_value =
      'much';
    broken.components.schemas.Loan.properties.status.$ref = '#/components/schemas/Nowhere';
    const found = (await lint(broken)).join('\n');
    for (const rule of [
      'operation-summary',
      'operation-operationId-unique',
      'no-invalid-media-type-examples',
      'no-unresolved-refs',
    ]) {
      expect(found).toContain(rule);
    }
  });
});

describe('our own rules', () => {
  test('every operation and event has a name of its own, a tag, a summary and a description', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { place, operation } of operations()) {
      expect([place, operation.tags?.length, operation.summary, operation.description]).toEqual([
        place,
        1,
        expect.stringMatching(/^[A-Z].*[^.]$/),
        expect.stringMatching(/\.$/),
      ]);
    }
  });

  test('every body, header and parameter that has to be there has an example, and each a description', () => {
    for (const { place, operation } of operations()) {
      const contents = [operation.requestBody, ...Object.values<Json>(operation.responses)].flatMap((node) =>
        Object.values<Json>(resolved(node)?.content ?? {}),
      );
      for (const content of contents) expect([place, hasExample(content)]).toEqual([place, true]);
      const headers = Object.values<Json>(operation.responses).flatMap((response) =>
        Object.values<Json>(resolved(response).headers ?? {}),
      );
      for (const node of [...(operation.parameters ?? []), ...headers].map(resolved)) {
        const optional = node.in !== undefined && node.required !== true;
        expect([place, node.description, hasExample(node)]).toEqual([place, expect.any(String), !optional]);
      }
    }
  });

  test('no example holds something optional that changes what happens: what fills examples in would send it', () => {
    const given: string[] = [];
    const partsOf = (schema: Json): Json[] => {
      const { allOf = [], oneOf = [], anyOf = [], ...own } = resolved(schema) ?? {};
      return [own, ...[...allOf, ...oneOf, ...anyOf].flatMap(partsOf)];
    };
    const visit = (schema: Json, value: Json, place: string): void => {
      const parts = partsOf(schema);
      const properties = Object.assign({}, ...parts.map((part) => part.properties));
      const required = parts.flatMap((part) => part.required ?? []);
      const items = parts.find((part) => part.items)?.items;
      if (Array.isArray(value)) for (const entry of value) visit(items, entry, place);
      else if (typeof value === 'object' && value !== null) {
        for (const [name, entry] of Object.entries<Json>(value)) {
          if (!required.includes(name)) given.push(`${place} ${name}`);
          visit(properties[name], entry, place);
        }
      }
    };
    for (const { place, operation, webhook } of operations().filter((one) => !one.webhook)) {
      for (const node of (operation.parameters ?? []).map(resolved)) {
        if (node.required !== true) expect([node.name, hasExample(node)]).toEqual([node.name, webhook]);
      }
      for (const { schema, example } of Object.values<Json>(operation.requestBody?.content ?? {})) {
        visit(schema, example, place);
      }
    }
    expect(new Set(given)).toEqual(new Set(ONLY_KEPT));
  });

  test('every operation says how it refuses: with the error body, and an example for each code', () => {
    for (const { place, operation } of operations().filter(({ webhook }) => !webhook)) {
      const refusals = Object.entries<Json>(operation.responses).filter(([status]) => /^[45]/.test(status));
      expect([place, refusals.length]).toEqual([place, expect.any(Number)]);
      expect(refusals.filter(([status]) => status.startsWith('4')).length).toBeGreaterThan(0);
      for (const [status, refusal] of refusals) {
        const content = resolved(refusal).content['application/json'];
        const codes = content.schema.properties.error_code.enum as string[];
        expect([place, status, Object.keys(content.examples)]).toEqual([place, status, codes]);
        expect(resolved(refusal).headers['X-Request-Id']).toBeDefined();
      }
    }
  });

  test('every field of a body is described, or is a described component', () => {
    const bare: string[] = [];
    const visit = (schema: Json, place: string): void => {
      for (const [name, property] of Object.entries<Json>(schema?.properties ?? {})) {
        const nested = property.items ?? property;
        const described = property.description ?? (property.$ref || nested.$ref || property.const);
        if (!described && Object.keys(property).length > 0) bare.push(`${place}.${name}`);
        visit(nested, `${place}.${name}`);
      }
    };
    for (const [name, schema] of Object.entries<Json>(document.components.schemas)) visit(schema, name);
    expect(bare).toEqual([]);
  });
});
