import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PLACEHOLDERS, RELEASED_VERSIONS } from '../../../infrastructure/http/openapi/released.ts';
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';
import { HttpWorld } from '../../support/http-world.ts';

type Json = ReturnType<typeof JSON.parse>;

const folder = new URL('../../../infrastructure/http/openapi/released/', import.meta.url);

let world: HttpWorld;
beforeAll(async () => {
  world = await HttpWorld.start();
});
afterAll(() => world.stop());

describe('descriptions of released versions', () => {
  test('each is there under its number, with the addresses of this service', async () => {
    expect(readdirSync(folder).toSorted()).toEqual(RELEASED_VERSIONS.map((version) => `${version}.json`));
    for (const version of [...RELEASED_VERSIONS, API_VERSION]) {
      const { status, body, text, headers } = await world.call('GET', `/openapi/${version}.json`, {
        auth: false,
      });
      expect([status, body.info.version, body.servers]).toEqual([
        200,
        version,
        world.description.document.servers,
      ]);
      for (const placeholder of Object.values(PLACEHOLDERS)) expect(text).not.toContain(placeholder);
      expect(headers.get('etag')).toMatch(/^"/);
    }
  });

  test.each(['2026.11.9', '..%2F..%2Fpackage', '__proto__', 'openapi'])(
    'another one is not found, and the answer names those that are there: %s',
    async (version) => {
      const { status, body } = await world.call('GET', `/openapi/${version}.json`, { auth: false });
      expect([status, body.error_code]).toEqual([404, 'not_found']);
      expect(body.message).toContain('2026.11.1');
    },
  );

  test('the changelog names each', () => {
    const changelog = readFileSync(new URL('../../../docs/changelog.md', import.meta.url), 'utf8');
    for (const version of [...RELEASED_VERSIONS, API_VERSION])
      expect(changelog).toContain(`/openapi/${version}.json`);
  });
});

/** What a client of the old description would miss or trip over in the new one. */
class Differences {
  readonly found: string[] = [];
  readonly #old: Json;
  readonly #new: Json;
  readonly #compared = new Set<string>();

  constructor(old: Json, current: Json) {
    this.#old = old;
    this.#new = current;
    for (const [path, methods] of Object.entries<Json>(old.paths))
      for (const [method, operation] of Object.entries<Json>(methods))
        this.#operation(`${method} ${path}`, operation, current.paths[path]?.[method]);
  }

  #operation(place: string, old: Json, now: Json): void {
    if (!now) return this.#tell(place, 'is gone');
    const parameters = (operation: Json, document: Json): Json[] =>
      (operation.parameters ?? []).map((one: Json) => resolved(one, document));
    const known = parameters(old, this.#old);
    for (const one of known)
      if (!parameters(now, this.#new).some(({ name, in: where }) => name === one.name && where === one.in))
        this.#tell(place, `has no parameter ${one.name}`);
    for (const one of parameters(now, this.#new))
      if (one.required && !known.some(({ name }) => name === one.name))
        this.#tell(place, `requires parameter ${one.name}`);
    this.#contents(
      `${place} request`,
      resolved(old.requestBody, this.#old),
      resolved(now.requestBody, this.#new),
    );
    for (const [status, answer] of Object.entries<Json>(old.responses)) {
      const other = resolved(now.responses[status], this.#new);
      if (!other) this.#tell(place, `no longer answers ${status}`);
      else if (status < '300') this.#contents(`${place} ${status}`, resolved(answer, this.#old), other);
    }
  }

  #contents(place: string, old: Json, now: Json): void {
    for (const [mediaType, { schema }] of Object.entries<Json>(old?.content ?? {})) {
      const other = now?.content?.[mediaType];
      if (!other) this.#tell(place, `has no ${mediaType}`);
      else this.#schema(place, schema, other.schema);
    }
  }

  #schema(place: string, oldSchema: Json, newSchema: Json): void {
    const old = resolved(oldSchema, this.#old);
    const now = this.#alternative(old, resolved(newSchema, this.#new));
    if (!old || !now) return;
    const key = `${place.includes('request')} ${JSON.stringify(oldSchema)} ${JSON.stringify(newSchema)}`;
    if (this.#compared.has(key)) return;
    this.#compared.add(key);
    const isRequest = place.includes('request');
    const types = (schema: Json): string[] => [schema.type ?? []].flat();
    const [from, to] = isRequest ? [old, now] : [now, old];
    for (const type of types(from))
      if (
        types(to).length > 0 &&
        !types(to).includes(type) &&
        !(type === 'integer' && types(to).includes('number'))
      )
        this.#tell(place, `type ${type}`);
    const required = (schema: Json): string[] => schema.required ?? [];
    const missing = isRequest
      ? required(now).filter((name) => !required(old).includes(name))
      : required(old).filter((name) => !required(now).includes(name));
    for (const name of missing) this.#tell(place, `${isRequest ? 'requires' : 'may lack'} ${name}`);
    for (const name of Object.keys(old.properties ?? {}))
      if (!now.properties?.[name]) this.#tell(place, `has no ${name}`);
      else this.#schema(`${place}.${name}`, old.properties[name], now.properties[name]);
    if (isRequest && old.enum && now.enum)
      for (const value of old.enum)
        if (!now.enum.includes(value)) this.#tell(place, `no longer takes ${value}`);
    if (old.items && now.items) this.#schema(`${place}[]`, old.items, now.items);
    for (const word of ['oneOf', 'anyOf', 'allOf'])
      (old[word] ?? []).forEach((one: Json, index: number) => this.#schema(place, one, now[word]?.[index]));
    const bounds = { maxLength: -1, maxItems: -1, maximum: -1, minLength: 1, minItems: 1, minimum: 1 };
    for (const [bound, direction] of Object.entries(bounds)) {
      const tighter =
        now[bound] !== undefined && (old[bound] === undefined || (now[bound] - old[bound]) * direction > 0);
      if (isRequest && tighter) this.#tell(place, `${bound} ${now[bound]}`);
    }
  }

  /** Of several that an answer or a part may have now, the one that the old description knew. */
  #alternative(old: Json, now: Json): Json {
    const alternatives = (now?.oneOf ?? now?.anyOf)?.map((one: Json) => resolved(one, this.#new));
    if (!alternatives || !old?.properties) return now;
    const names = Object.keys(old.properties);
    return alternatives.find((one: Json) => names.every((name) => one.properties?.[name])) ?? alternatives[0];
  }

  #tell(place: string, what: string): void {
    this.found.push(`${place}: ${what}`);
  }
}

const resolved = (node: Json, document: Json): Json => {
  if (!node?.$ref) return node;
  const [, ...path] = node.$ref.split('/');
  return resolved(
    path.reduce((at: Json, name: string) => at?.[name.replaceAll('~1', '/')], document),
    document,
  );
};

/** Corrections that the changelog names: what was answered there was wrong. */
const CORRECTED = [
  'get /loan/{originator_proposal_code} 200.documents[].value: type null',
  'get /loan/{originator_proposal_code} 200.balances.payoff_value: type null',
];

test.each(RELEASED_VERSIONS)('nothing that %s described is gone or asks for more', (version) => {
  const old = JSON.parse(readFileSync(new URL(`${version}.json`, folder), 'utf8')) as Json;
  expect(new Differences(old, world.description.document).found).toEqual(CORRECTED);
});

test('a description that lost something is noticed', () => {
  const old = world.description.document as Json;
  const lesser = structuredClone(old);
  delete lesser.paths['/loan/{originator_proposal_code}'];
  delete lesser.components.schemas.Loan.properties.version;
  lesser.components.schemas.Settlement?.required?.push('late_days');
  expect(new Differences(old, lesser).found).toContain('get /loan/{originator_proposal_code}: is gone');
});
