import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import { meantBy } from './misspelt.ts';
import { shapeOf } from './shape.ts';
import type { ObjectShape, Shape } from './shape.ts';
import type { Schema } from './schema.ts';
import { isSoundText } from './sound-text.ts';
import { MOST_VIOLATIONS } from './violations.ts';

/** The part of a value that its schema knows, and what is wrong with names and texts. */
export interface Recognised {
  readonly value: unknown;
  readonly violations: readonly FieldViolation[];
}

/** Most different unknown names that are compared with the known ones, so that a body full of them costs next to nothing. */
const MOST_COMPARED = 100;
const NOT_HERE: Readonly<Record<string, string>> = {
  dry_run: 'is not a field here; requests that can be tried out have it at the top of their body',
};

export const UNKNOWN_FIELD = 'unknown_field';
/** A name that a JSON text may hold and an assignment would not make. */
const PROTOTYPE = '__proto__';

/**
 * Takes over what the schema knows and nothing else, so that whatever comes after costs as much as the interface is large and
 * not as much as the body is: unknown fields are left out, `null` for an optional field counts as leaving it out, and lists
 * that are too long anyway end one entry after the longest.
 */
export const recogniser = (document: Schema, name: string): ((value: unknown) => Recognised) => {
  const shape = shapeOf(document, name);
  return (value) => new Recognition().of(value, shape);
};

const elsewhereIn = (shape: ObjectShape): Readonly<Record<string, string>> => ({
  ...NOT_HERE,
  ...shape.elsewhere,
});

/** What a name may have been meant to be, listed once for each shape. */
const listed = new WeakMap<ObjectShape, readonly string[]>();
const namesOf = (shape: ObjectShape): readonly string[] => {
  let names = listed.get(shape);
  if (!names) listed.set(shape, (names = [...shape.fields.keys(), ...Object.keys(elsewhereIn(shape))]));
  return names;
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
    if (typeof value === 'string') {
      if (!isSoundText(value)) {
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
    return list.slice(0, most + 1).map((entry, index) => this.#below(index, () => this.#known(entry, items)));
  }

  #object(given: Readonly<Record<string, unknown>>, shape: ObjectShape): object {
    const known: Record<string, unknown> = {};
    let kept = 0;
    for (const name of Object.keys(given)) {
      const field = shape.fields.get(name);
      const value = given[name];
      if (field === undefined) {
        const misspelt = this.#refuseUnknown(name, shape);
        if (!shape.closed || misspelt || name === PROTOTYPE || kept === MOST_COMPARED) continue;
        kept += 1;
        known[name] = value;
      } else if (value !== null || !field.nullIsAbsent) {
        known[name] = this.#below(name, () => this.#known(value, field.shape));
      }
    }
    return known;
  }

  /** Whether the name is one that is refused: another field misspelt, or a field that this request has not. */
  #refuseUnknown(name: string, shape: ObjectShape): boolean {
    const why = this.#whyUnknown(name, shape);
    if (why !== undefined) this.#below(name, () => this.#note(UNKNOWN_FIELD, why));
    return why !== undefined;
  }

  #whyUnknown(name: string, shape: ObjectShape): string | undefined {
    const compared = this.#compared.get(shape) ?? new Map<string, string | undefined>();
    if (this.#comparisons === MOST_COMPARED || compared.has(name)) return compared.get(name);
    this.#comparisons += 1;
    const meant = meantBy(name, namesOf(shape));
    const why =
      meant === undefined || shape.fields.has(meant)
        ? meant && `is not a field here; the field is called ${meant}`
        : elsewhereIn(shape)[meant];
    this.#compared.set(shape, compared.set(name, why));
    return why;
  }

  #below<Result>(segment: string | number, look: () => Result): Result {
    this.#path.push(segment);
    const result = look();
    this.#path.pop();
    return result;
  }

  #note(code: string, message: string): void {
    if (this.#violations.length < MOST_VIOLATIONS) {
      this.#violations.push({ field: this.#readablePath(), code, message });
    }
  }

  #readablePath(): string {
    return this.#path.reduce<string>((path, segment) => {
      if (typeof segment === 'number') return `${path}[${segment}]`;
      return path === '' ? segment : `${path}.${segment}`;
    }, '');
  }
}
