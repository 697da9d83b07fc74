import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { PLACEHOLDERS, RELEASED_VERSIONS } from '../../../../infrastructure/http/resources/reference.ts';
import { API_VERSION } from '../../../../infrastructure/http/openapi/version.ts';
import { HttpWorld } from '../../../support/http-world.ts';

type Json = ReturnType<typeof JSON.parse>;

const folder = new URL('../../../../infrastructure/http/openapi/released/', import.meta.url);

const world = await HttpWorld.start();
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
    const changelog = readFileSync(new URL('../../../../docs/changelog.md', import.meta.url), 'utf8');
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
    const isRequest = place.includes('request');
    const key = `${isRequest} ${JSON.stringify(oldSchema)} ${JSON.stringify(newSchema)}`;
    if (!old || !now || this.#compared.has(key)) return;
    this.#compared.add(key);
    // What is sent has to be taken still; what is answered has to be what was known.
    for (const type of isRequest ? typesNotIn(now, old) : typesNotIn(old, now))
      this.#tell(place, `type ${type}`);
    const [more, fewer] = isRequest ? [now, old] : [old, now];
    for (const name of more.required ?? [])
      if (!fewer.required?.includes(name))
        this.#tell(place, `${isRequest ? 'requires' : 'may lack'} ${name}`);
    if (isRequest) for (const bound of tighter(old, now)) this.#tell(place, bound);
    this.#parts(place, old, now);
  }

  #parts(place: string, old: Json, now: Json): void {
    for (const name of Object.keys(old.properties ?? {}))
      if (!now.properties?.[name]) this.#tell(place, `has no ${name}`);
      else this.#schema(`${place}.${name}`, old.properties[name], now.properties[name]);
    this.#schema(`${place}[]`, old.items, now.items);
    for (const word of ['oneOf', 'anyOf', 'allOf'])
      (old[word] ?? []).forEach((one: Json, index: number) => this.#schema(place, one, now[word]?.[index]));
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

/** Types of the other that this one does not have. */
const typesNotIn = (schema: Json, other: Json): string[] => {
  const known = [schema.type ?? []].flat();
  if (known.length === 0) return [];
  return [other.type ?? []]
    .flat()
    .filter((type) => !known.includes(type) && !(type === 'integer' && known.includes('number')));
};

const BOUNDS = { maxLength: -1, maxItems: -1, maximum: -1, minLength: 1, minItems: 1, minimum: 1 };

/** Bounds and values by which the new description takes less than the old one. */
const tighter = (old: Json, now: Json): string[] => [
  ...Object.entries(BOUNDS)
    .filter(([bound, direction]) => (now[bound] - (old[bound] ?? now[bound] - direction)) * direction > 0)
    .map(([bound]) => `${bound} ${now[bound]}`),
  ...(now.enum === undefined ? [] : (old.enum ?? []))
    .filter((value: Json) => !now.enum.includes(value))
    .map((value: Json) => `no longer takes ${value}`),
];

const resolved = (node: Json, document: Json): Json => {
  if (!node?.$ref) return node;
  const [, ...path] = node.$ref.split('/');
  return resolved(
    path.reduce((at: Json, name: string) => at?.[name.replaceAll('~1', '/')], document),
    document,
  );
};

/** Corrections that the changelog names, by the first version that has them: what was answered before was wrong. */
const CORRECTED: ReadonlyMap<string, readonly string[]> = new Map([
  [
    '2026.11.2',
    [
      'get /loan/{originator_proposal_code} 200.documents[].value: type null',
      'get /loan/{originator_proposal_code} 200.balances.payoff_value: type null',
    ],
  ],
]);
const correctedAfter = (version: string): readonly string[] =>
  [...CORRECTED].filter(([since]) => since > version).flatMap(([, corrections]) => corrections);

test.each(RELEASED_VERSIONS)('nothing that %s described is gone or asks for more', (version) => {
  const old: Json = JSON.parse(readFileSync(new URL(`${version}.json`, folder), 'utf8'));
  expect(new Differences(old, world.description.document).found).toEqual(correctedAfter(version));
});

test('a description that lost something is noticed', () => {
  const old: Json = world.description.document;
  const lesser = structuredClone(old);
  delete lesser.paths['/loan/{originator_proposal_code}'];
  delete lesser.components.schemas.Loan.properties.version;
  lesser.components.schemas.Settlement?.required?.push('late_days');
  expect(new Differences(old, lesser).found).toContain('get /loan/{originator_proposal_code}: is gone');
});
