import type { Static } from 'typebox';
import type { Cents } from '../../domain/shared/money.ts';
import { amountOrNull } from '../support/json-amounts.ts';
import { object } from './schema.ts';
import type { Schema, SchemaOf } from './schema.ts';

/** A field that the service shows: how it is described, what examples say, and its value. */
interface ShownField<From> {
  readonly schema: Schema;
  /** Undefined: examples are without it. */
  readonly example: unknown;
  readonly of: (this: void, from: From) => unknown;
  /** It is left out where its value is undefined. */
  readonly isOptional?: true;
}

/** By the names of the interface, in the order in which they are shown. */
export type ShownFields<From> = Readonly<Record<string, ShownField<From>>>;

export const shown = <From, const Given extends Schema>(
  schema: Given,
  example: unknown,
  of: (this: void, from: From) => Static<Given>,
): ShownField<From> => ({ schema, example, of });

export const shownIfThere = <From, const Given extends Schema>(
  schema: Given,
  example: unknown,
  of: (this: void, from: From) => Static<Given> | undefined,
): ShownField<From> => ({ schema, example, of, isOptional: true });

export const shownAmount = <From>(
  schema: SchemaOf<number> | SchemaOf<number | null>,
  example: number | null | undefined,
  of: (this: void, from: From) => Cents | null,
): ShownField<From> => ({ schema, example, of: (from) => amountOrNull(of(from)) });

/** The same word in every body. */
export const constant = (value: string): ShownField<unknown> => ({
  schema: { type: 'string', const: value },
  example: value,
  of: () => value,
});

/** The object that has these fields, as a schema. */
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

/** Makes the object of what is to be shown. */
export const shownBy = <From>(fields: ShownFields<From>): ((from: From) => Record<string, unknown>) => {
  const all = Object.entries(fields).map(([name, { of }]) => [name, of] as const);
  return (from) => {
    const made: Record<string, unknown> = {};
    for (const [name, of] of all) {
      const value = of(from);
      if (value !== undefined) made[name] = value;
    }
    return made;
  };
};

/** An object of its own, where there is what it tells of. */
export const shownPartIfThere = <From, Part>(
  description: string,
  of: (this: void, from: From) => Part | undefined,
  fields: ShownFields<Part>,
): ShownField<From> => {
  const show = shownBy(fields);
  const example = exampleOf(fields);
  return {
    schema: { ...schemaOf(fields), description },
    example: Object.keys(example).length > 0 ? example : undefined,
    of: (from) => {
      const part = of(from);
      return part && show(part);
    },
    isOptional: true,
  };
};
