import type { Static } from 'typebox';
import type { Cents } from '../../domain/shared/money.ts';
import { amountOrNull } from '../support/json-amounts.ts';
import { listOf, object } from './schema.ts';
import type { Schema } from './schema.ts';

interface ShownField<From> {
  readonly schema: Schema;
  readonly of: (this: void, from: From) => unknown;
  /** Undefined: examples are without it. */
  readonly example: unknown;
  /** It is left out where its value is undefined. */
  readonly isOptional?: true;
}

/** By the names of the interface, in the order in which they are shown. */
export type ShownFields<From> = Readonly<Record<string, ShownField<From>>>;

export const shown = <From, const Given extends Schema>(
  schema: Given,
  of: (this: void, from: From) => Static<Given>,
  example?: unknown,
): ShownField<From> => ({ schema, of, example });

export const shownIfThere = <From, const Given extends Schema>(
  schema: Given,
  of: (this: void, from: From) => Static<Given> | undefined,
  example?: unknown,
): ShownField<From> => ({ schema, of, example, isOptional: true });

export const shownAmount = <From>(
  schema: Schema,
  of: (this: void, from: From) => Cents | null,
  example?: number | null,
): ShownField<From> => ({ schema, of: (from) => amountOrNull(of(from)), example });

export const constant = (value: string): ShownField<unknown> => ({
  schema: { type: 'string', const: value },
  of: () => value,
  example: value,
});

export const schemaOf = <From>(fields: ShownFields<From>): Schema => {
  const all = Object.entries(fields);
  return object(
    Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
    all.filter(([, { isOptional }]) => isOptional).map(([name]) => name),
  );
};

export const exampleOf = <From>(fields: ShownFields<From>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { example }]) => example !== undefined)
      .map(([name, { example }]) => [name, example]),
  );

export const shownBy = <From>(fields: ShownFields<From>): ((from: From) => Record<string, unknown>) => {
  const names = Object.keys(fields);
  const values = Object.values(fields).map(({ of }) => of);
  return (from) => {
    const made: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at += 1) {
      const value = values[at]!(from);
      if (value !== undefined) made[names[at]!] = value;
    }
    return made;
  };
};

export const shownPart = <From, Part>(
  description: string,
  of: (this: void, from: From) => Part | undefined,
  fields: ShownFields<Part>,
): ShownField<From> => {
  const show = shownBy(fields);
  const example = exampleOf(fields);
  return {
    schema: { ...schemaOf(fields), description },
    of: (from) => {
      const part = of(from);
      return part && show(part);
    },
    example: Object.keys(example).length > 0 ? example : undefined,
  };
};

export const shownPartIfThere: typeof shownPart = (...part) => ({ ...shownPart(...part), isOptional: true });

export const shownList = <From, Item>(
  description: string,
  of: (this: void, from: From) => readonly Item[],
  fields: ShownFields<Item>,
): ShownField<From> => {
  const show = shownBy(fields);
  return {
    schema: listOf(schemaOf(fields), { description }),
    of: (from) => of(from).map(show),
    example: undefined,
  };
};

/** The same fields of something that holds what they are of. */
export const within = <From, Part>(
  of: (this: void, from: From) => Part,
  fields: ShownFields<Part>,
): ShownFields<From> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { ...field, of: (from: From) => field.of(of(from)) },
    ]),
  );
