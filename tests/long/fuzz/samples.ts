import type { Random } from '../../support/random.ts';

type Json = ReturnType<typeof JSON.parse>;

const FIXED_LENGTH_ARRAYS = 4;

/** Values that follow the schemas of a description, more or less: what its examples do not reach. */
export class Samples {
  readonly #document: Json;
  readonly #random: Random;

  constructor(document: Json, random: Random) {
    this.#document = document;
    this.#random = random;
  }

  resolve(node: Json): Json {
    if (!node?.$ref) return node;
    return String(node.$ref)
      .slice(2)
      .split('/')
      .reduce<Json>((at, segment) => at[segment], this.#document);
  }

  of(schema: Json): Json {
    const random = this.#random;
    const node = this.resolve(schema);
    if (node.allOf && !node.properties)
      return Object.assign({}, ...node.allOf.map((one: Json) => this.of(one)));
    if (node.oneOf ?? node.anyOf) return this.of(random.pick(node.oneOf ?? node.anyOf));
    if (node.const !== undefined) return node.const;
    if (node.enum) return random.pick(node.enum);
    if (node.examples && random.chance(0.7)) return random.pick(node.examples);
    const type = Array.isArray(node.type) ? random.pick(node.type) : node.type;
    return this.#ofType(type, node);
  }

  #ofType(type: string, node: Json): Json {
    const random = this.#random;
    switch (type) {
      case 'object':
        return this.#object(node);
      case 'array': {
        const least = node.minItems ?? 0;
        const count =
          least + random.below(Math.min(node.maxItems ?? FIXED_LENGTH_ARRAYS, FIXED_LENGTH_ARRAYS));
        return Array.from({ length: count }, () => this.of(node.items ?? {}));
      }
      case 'integer':
        return (node.minimum ?? 0) + random.below(Math.min((node.maximum ?? 500) + 1, 500));
      case 'number':
        return random.below(100_000_00) / 100;
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      default:
        return this.#text(node);
    }
  }

  #object(node: Json): Json {
    const required = new Set<string>(node.required ?? []);
    const kept = Object.entries<Json>(node.properties ?? {}).filter(
      ([name]) => required.has(name) || this.#random.chance(0.6),
    );
    return Object.fromEntries(kept.map(([name, property]) => [name, this.of(property)]));
  }

  #text({ format, maxLength = 20 }: Json): string {
    const random = this.#random;
    const day = `202${random.below(8)}-${String(1 + random.below(12)).padStart(2, '0')}-15`;
    if (format === 'date') return day;
    if (format === 'date-time') return `${day}T12:00:00Z`;
    if (format === 'uuid') return crypto.randomUUID();
    const letters = 'abcXYZ0189-_ .!é';
    return Array.from({ length: random.below(Math.min(maxLength, 40)) }, () =>
      random.pick([...letters]),
    ).join('');
  }
}
