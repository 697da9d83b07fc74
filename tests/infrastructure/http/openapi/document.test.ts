import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { OPERATIONS } from '../../../../infrastructure/http/resources/endpoints.ts';
import { HttpWorld } from '../../../support/http-world.ts';

type Json = ReturnType<typeof JSON.parse>;

const world = await HttpWorld.start();
const document = world.description.document;
afterAll(() => world.stop());

const operations = (): { id: string; path: string; method: string; definition: Json }[] =>
  Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, definition]) => ({
      id: definition.operationId,
      path,
      method,
      definition,
    })),
  );

/** Every value in the document under one of these names, with its place. */
const collect = (node: Json, name: string, place: string[] = []): { place: string[]; value: Json }[] => {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries<Json>(node).flatMap(([key, value]) => [
    ...(key === name ? [{ place, value }] : []),
    ...collect(value, name, [...place, key]),
  ]);
};

describe('the interface description', () => {
  test('is OpenAPI 3.1.0 with a version of the form year.month.patch, which every response repeats', async () => {
    const { headers, body } = await world.call('GET', '/openapi.json', { auth: false });
    expect(body.openapi).toBe('3.1.0');
    expect(body.info.version).toMatch(/^\d{4}\.\d{1,2}\.\d+$/);
    expect(headers.get('x-svc-api-version')).toBe(body.info.version);
  });

  test('says the same in YAML', async () => {
    const { text, headers } = await world.call('GET', '/openapi.yaml', { auth: false });
    expect(headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect(parse(text)).toEqual(document);
  });

  test.each([
    ['/openapi.json', /"(\w+)":(-?\d[\d.]*)/g],
    ['/openapi.yaml', /^ *(?:- )?(\w+): (-?\d[\d.]*)$/gm],
    ['/asyncapi.json', /"(\w+)":(-?\d[\d.]*)/g],
    ['/asyncapi.yaml', /^ *(?:- )?(\w+): (-?\d[\d.]*)$/gm],
  ])('%s shows amounts with two decimals, as answers do', async (path, numbers) => {
    const { text } = await world.call('GET', path, { auth: false });
    const fields = JSON.stringify(document).matchAll(/"(\w+)":\{[^{}]*schemas\/(?:Amount|Balance)"/g);
    const money = new Set(['present_value', ...[...fields].map(([, name]) => name!)]);
    const found = [...text.matchAll(numbers)].filter(([, name]) => name !== 'maximum');
    expect(found.filter(([, name]) => money.has(name!)).length).toBeGreaterThan(10);
    expect(found.filter(([, name, number]) => money.has(name!) !== /\.\d\d$/.test(number!))).toEqual([]);
  });

  test('stands beside the description of the topics, in both forms', async () => {
    const asJson = await world.call('GET', '/asyncapi.json', { auth: false });
    const asYaml = await world.call('GET', '/asyncapi.yaml', { auth: false });
    expect([asJson.body.asyncapi, asJson.body.info.version]).toEqual(['3.0.0', document.info.version]);
    expect(asYaml.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    expect(parse(asYaml.text)).toEqual(asJson.body);
  });

  test.each(['/openapi.json', '/openapi.yaml', '/asyncapi.json', '/asyncapi.yaml'])(
    '%s is revalidated by its strong entity tag',
    async (path) => {
      const etag = (await world.call('GET', path, { auth: false })).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const known of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
        const again = await world.call('GET', path, { auth: false, headers: { 'if-none-match': known } });
        expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
      }
      const other = await world.call('GET', path, { auth: false, headers: { 'if-none-match': '"other"' } });
      expect(other.status).toBe(200);
    },
  );

  test('carries rate limit headers although nobody has to authenticate', async () => {
    const { headers } = await world.call('GET', '/openapi.json', { auth: false });
    expect(headers.get('x-ratelimit-limit')).toBe('1200');
  });

  test('names each operation once and resolves every reference', () => {
    const ids = operations().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
    for (const { value } of collect(document, '$ref')) {
      const found = String(value)
        .slice(2)
        .split('/')
        .reduce<Json>((node, segment) => node?.[segment], document);
      expect({ [String(value)]: typeof found }).toEqual({ [String(value)]: 'object' });
    }
  });

  test('declares every path parameter', () => {
    for (const { path, definition } of operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (definition.parameters ?? [])
        .map((parameter: Json) => document.components.parameters[parameter.$ref.split('/').pop()])
        .filter((parameter: Json) => parameter.in === 'path')
        .map((parameter: Json) => parameter.name);
      expect(declared).toEqual(named);
    }
  });

  test('has a summary, a description and an example for every request and every JSON response', () => {
    for (const { id, definition } of operations()) {
      expect([id, definition.summary, definition.description]).toEqual([
        id,
        expect.any(String),
        expect.any(String),
      ]);
      const request = Object.values<Json>(definition.requestBody?.content ?? {});
      const responses = Object.values<Json>(definition.responses).flatMap((response) =>
        Object.values<Json>(response.content ?? {}),
      );
      for (const content of [...request, ...responses]) {
        expect([id, content.example ?? content.examples]).toEqual([id, expect.anything()]);
      }
    }
  });

  test('has examples that its own schemas accept', () => {
    const mediaTypes = [
      ...collect(document, 'application/json'),
      ...collect(document, 'application/x-www-form-urlencoded'),
    ];
    expect(mediaTypes.length).toBeGreaterThan(50);
    for (const { place, value } of mediaTypes) {
      const mediaType =
        'application/json' in at(place) ? 'application/json' : 'application/x-www-form-urlencoded';
      const examples = value.examples
        ? Object.values<Json>(value.examples).map((entry) => entry.value)
        : [value.example];
      for (const example of examples) {
        expect([
          place.join(' '),
          world.description.schemaErrors([...place, mediaType, 'schema'], example),
        ]).toEqual([place.join(' '), undefined]);
      }
    }
    for (const { place, value } of collect(document.components.schemas, 'examples', [
      'components',
      'schemas',
    ])) {
      for (const example of value) {
        expect([place.join(' '), world.description.schemaErrors(place, example)]).toEqual([
          place.join(' '),
          undefined,
        ]);
      }
    }
  });

  const at = (place: readonly string[]): Json => place.reduce((node, segment) => node[segment], document);

  test('lists for each operation the refusals that its kind implies', () => {
    for (const { id, definition } of operations()) {
      const statuses = Object.keys(definition.responses);
      const wanted = ['406', '500', '503'];
      if (definition.security.some((scheme: Json) => scheme.bearer)) wanted.push('401', '403', '429');
      if (definition.requestBody) wanted.push('400', '413', '415');
      expect([id, statuses]).toEqual([id, expect.arrayContaining(wanted)]);
    }
  });

  test('publishes the limit of each operation', () => {
    expect(document.paths['/installment/settle'].post['x-rate-limit']).toEqual({
      bucket: 'settle',
      per_minute: 300,
      burst: 600,
    });
    expect(document.paths['/health/live'].get['x-rate-limit']).toBeUndefined();
  });

  test('says of each operation whether it may be sent again after an answer that was lost', () => {
    const others = operations().filter(({ definition }) => definition['x-idempotent'] !== true);
    expect(others.map(({ id }) => id).sort()).toEqual([
      'createWebhook',
      'decideInSandbox',
      'issueToken',
      'moveSandboxClock',
      'pingWebhook',
      'redeliverEvent',
      'redeliverWebhook',
      'rotateWebhookSecret',
    ]);
  });
});
