import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import { MOST_VIOLATIONS, isSoundText, readablePath } from './document-validators.ts';
import { ELSEWHERE, JUDGED_ALONE } from './schema.ts';
import type { Schema } from './schema.ts';

/** Longer than any name of the interface by far; a longer name is no slip of the hand. */
const LONGEST_NAME = 64;
/** From this many letters on, two slips are still recognisable. */
const LONG = 8;

const bare = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** A request may hold thousands of names, each to be compared with the same list. */
const bareOf = new WeakMap<readonly string[], readonly string[]>();
const bareNames = (known: readonly string[]): readonly string[] => {
  let names = bareOf.get(known);
  if (!names) bareOf.set(known, (names = known.map(bare)));
  return names;
};

/** Insertions, deletions, substitutions and swapped neighbours that turn one text into the other. */
export const editDistance = (a: string, b: string): number => {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    const above = rows[i - 1]!;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
};

export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const text = bare(name.slice(0, LONGEST_NAME));
  const distances = known.map((one) => editDistance(text, bare(one)));
  return known[distances.indexOf(Math.min(...distances))];
};

/** One edit away (two from eight letters on), but for case; not with digits behind it, as in `street2`. */
export const meantBy = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > LONGEST_NAME) return undefined;
  const text = bare(name);
  const names = bareNames(known);
  const withoutDigits = text.replace(/(?<!\d)\d+$/, '');
  if (withoutDigits !== text && names.includes(withoutDigits)) return undefined;
  const asValue = text.replace('amount', 'value');
  const same = names.findIndex((one) => one === text || one === asValue);
  if (same >= 0) return known[same];
  const close = known.filter((_, index) => {
    const wanted = names[index]!;
    const allowed = wanted.length < LONG ? 1 : 2;
    return Math.abs(wanted.length - text.length) <= allowed && editDistance(text, wanted) <= allowed;
  });
  return close.length === 0 ? undefined : nearest(name, close);
};

/** How deep a schema is built: what is known at each place of a body, without the rules for its values. */
type Shape = ObjectShape | ListShape | { readonly kind: 'value' | 'unread' };

interface ObjectShape {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Field>;
  /** The schema refuses every other field itself. */
  readonly closed: boolean;
  /** Fields that callers know from other requests, with the reason why they are not here. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** All of them, those from elsewhere too. */
  readonly names: readonly string[];
}

interface ListShape {
  readonly kind: 'list';
  readonly items: Shape;
  readonly most: number;
}

interface Field {
  readonly shape: Shape;
  readonly nullIsAbsent: boolean;
}

const NOT_HERE: Readonly<Record<string, string>> = {
  dry_run: 'is not a field here; requests that can be tried out have it at the top of their body',
};

const VALUE: Shape = { kind: 'value' };
const UNREAD: Shape = { kind: 'unread' };
const LONGEST_LIST = 500;

const shapeOf = (document: Schema, component: string): Shape => {
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Schema>> };

  const resolved = (schema: Schema): Schema => {
    const [, name] =
      /^#\/components\/schemas\/(\w+)$/.exec((schema['$ref'] as string | undefined) ?? '') ?? [];
    if (name !== undefined) return resolved(schemas[name] ?? {});
    const [first] = (schema['anyOf'] ?? []) as readonly Schema[];
    return first ? resolved(first) : schema;
  };

  const shape = (given: Schema): Shape => {
    const schema = resolved(given);
    const { properties, items, required, maxItems } = schema as {
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly items?: Schema;
      readonly required?: readonly string[];
      readonly maxItems?: number;
    };
    if (items) {
      const entry = JUDGED_ALONE in schema ? UNREAD : shape(items);
      return { kind: 'list', items: entry, most: maxItems ?? LONGEST_LIST };
    }
    if (!properties) return VALUE;
    const closed = schema['additionalProperties'] === false;
    const fields = Object.entries(properties).map(([name, property]): [string, Field] => [
      name,
      { shape: shape(property), nullIsAbsent: !closed && !required?.includes(name) },
    ]);
    const { [ELSEWHERE]: own } = schema as { readonly [ELSEWHERE]?: ObjectShape['elsewhere'] };
    const elsewhere = { ...NOT_HERE, ...own };
    const names = [...Object.keys(properties), ...Object.keys(elsewhere)];
    return { kind: 'object', fields: new Map(fields), closed, elsewhere, names };
  };

  return shape({ $ref: `#/components/schemas/${component}` });
};

export interface Recognised {
  readonly value: unknown;
  readonly violations: readonly FieldViolation[];
}

/** Most different unknown names that are compared with the known ones, so that a body full of them costs next to nothing. */
const MOST_COMPARED = 100;

export const UNKNOWN_FIELD = 'unknown_field';

/** What is refused at the top of a body that nobody asked for: with `dry_run` its sender believes that nothing will happen. */
export const unaskedFields = (value: unknown): readonly FieldViolation[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.keys(value)
    .slice(0, MOST_COMPARED)
    .flatMap((field) => {
      const message = NOT_HERE[meantBy(field, Object.keys(NOT_HERE)) ?? ''];
      return message === undefined ? [] : [{ field, code: UNKNOWN_FIELD, message }];
    });
};

/**
 * Takes over what the schema knows and nothing else, so that whatever comes after costs as much as the interface is large and
 * not as much as the body is: unknown fields are left out, `null` for an optional field counts as leaving it out, and lists
 * that are too long anyway end one entry after the longest.
 */
export const recogniser = (document: Schema, name: string): ((value: unknown) => Recognised) => {
  const shape = shapeOf(document, name);
  return (value) => new Recognition().of(value, shape);
};

class Recognition {
  readonly #path: (string | number)[] = [];
  readonly #violations: FieldViolation[] = [];
  readonly #compared = new Map<ObjectShape, Map<string, string | undefined>>();
  #comparisons = 0;

  of(value: unknown, shape: Shape): Recognised {
    return { value: this.#known(value, shape), violations: this.#violations };
  }

  #known(value: unknown, shape: Shape): unknown {
    if (shape.kind === 'unread') return value;
    if (typeof value === 'string') {
      // In the place of a whole body a text is wrong whatever it holds.
      if (this.#path.length > 0 && !isSoundText(value)) {
        this.#note('invalid_format', 'must be well-formed Unicode text without the character NUL');
      }
      return value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (shape.kind === 'list' && Array.isArray(value)) return this.#list(value, shape.items, shape.most);
    if (shape.kind === 'object' && !Array.isArray(value)) {
      return this.#object(value as Readonly<Record<string, unknown>>, shape);
    }
    return value;
  }

  #list(list: readonly unknown[], items: Shape, most: number): readonly unknown[] {
    return list.slice(0, most + 1).map((entry, index) => this.#below(index, entry, items));
  }

  #object(given: Readonly<Record<string, unknown>>, shape: ObjectShape): object {
    const known: Record<string, unknown> = {};
    let kept = 0;
    for (const name of Object.keys(given)) {
      const field = shape.fields.get(name);
      const value = given[name];
      if (field === undefined) {
        const misspelt = this.#refuseUnknown(name, shape);
        if (!shape.closed || misspelt || kept === MOST_COMPARED) continue;
        kept += 1;
        Object.defineProperty(known, name, { value, enumerable: true });
      } else if (value !== null || !field.nullIsAbsent) {
        known[name] = this.#below(name, value, field.shape);
      }
    }
    return known;
  }

  #refuseUnknown(name: string, shape: ObjectShape): boolean {
    const why = this.#whyUnknown(name, shape);
    if (why !== undefined) this.#note(UNKNOWN_FIELD, why, name);
    return why !== undefined;
  }

  #whyUnknown(name: string, shape: ObjectShape): string | undefined {
    const compared = this.#compared.get(shape) ?? new Map<string, string | undefined>();
    if (this.#comparisons === MOST_COMPARED || compared.has(name)) return compared.get(name);
    this.#comparisons += 1;
    const meant = meantBy(name, shape.names);
    const why =
      meant === undefined || shape.fields.has(meant)
        ? meant && `is not a field here; the field is called ${meant}`
        : shape.elsewhere[meant];
    this.#compared.set(shape, compared.set(name, why));
    return why;
  }

  #below(segment: string | number, value: unknown, shape: Shape): unknown {
    this.#path.push(segment);
    const known = this.#known(value, shape);
    this.#path.pop();
    return known;
  }

  #note(code: string, message: string, ...below: readonly string[]): void {
    if (this.#violations.length < MOST_VIOLATIONS) {
      this.#violations.push({ field: readablePath([...this.#path, ...below]), code, message });
    }
  }
}
