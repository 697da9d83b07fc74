import type { Static } from 'typebox';
import type { Cents } from '../../domain/shared/money.ts';
import { amountOrNull } from '../support/json-amounts.ts';
import { component, listOf, object } from './schema.ts';
import type { Schema } from './schema.ts';

interface ShownField<From> {
  readonly schema: Schema;
  readonly of: (this: void, from: From) => unknown;
  readonly example: unknown;
  readonly isOptional?: true;
}

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

export const schemaOf = <From>(fields: ShownFields<From>, keywords: Schema = {}): Schema => {
  const all = Object.entries(fields);
  const properties = Object.fromEntries(all.map(([name, { schema }]) => [name, schema]));
  const optional = all.filter(([, { isOptional }]) => isOptional).map(([name]) => name);
  return { ...object(properties, optional), ...keywords };
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

/** A published object of these fields, with an example of it and what shows one. */
export const shownComponent = <From>(name: string, fields: ShownFields<From>, keywords: Schema = {}) => ({
  ...component(name, schemaOf(fields, keywords)),
  example: exampleOf(fields),
  show: shownBy(fields),
});

/** Shows what the application has under the same name: `settled_value` the `settledValue`. @see fieldsOf */
interface NamedField<Value> extends Omit<ShownField<never>, 'of'> {
  /** Undefined: the value as it is. */
  readonly show?: (this: void, value: Value) => unknown;
}

export const named = <const Given extends Schema>(
  schema: Given,
  example?: unknown,
): NamedField<Static<Given>> => ({ schema, example });

export const namedAmount = (schema: Schema, example?: number | null): NamedField<Cents | null> => ({
  schema,
  example,
  show: amountOrNull,
});

export const namedPart = <Part>(description: string, fields: ShownFields<Part>): NamedField<Part> => {
  const example = exampleOf(fields);
  return {
    schema: schemaOf(fields, { description }),
    example: Object.keys(example).length > 0 ? example : undefined,
    show: shownBy(fields),
  };
};

export const namedPartIfThere = <Part>(
  description: string,
  fields: ShownFields<Part>,
): NamedField<Part | undefined> => {
  const { show, ...described } = namedPart(description, fields);
  return { ...described, isOptional: true, show: (part) => part && show!(part) };
};

export const namedList = <Item>(
  description: string,
  fields: ShownFields<Item>,
  example?: unknown,
): NamedField<readonly Item[]> => {
  const show = shownBy(fields);
  return { schema: listOf(schemaOf(fields), { description }), example, show: (items) => items.map(show) };
};

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

type FieldOf<From, Name> =
  Camel<Name> extends keyof From ? ShownField<From> | NamedField<From[Camel<Name>]> : ShownField<From>;

/** Fields among which those that name no source show the value of their own name. */
export const fieldsOf =
  <From>() =>
  <const Given extends Readonly<Record<string, ShownField<From> | NamedField<never>>>>(
    fields: Given & { readonly [Name in keyof Given]: FieldOf<From, Name> },
  ): ShownFields<From> =>
    Object.fromEntries(
      Object.entries(fields as Readonly<Record<string, ShownField<From> | NamedField<unknown>>>).map(
        ([name, field]) => [name, 'of' in field ? field : { ...field, of: reading(name, field) }],
      ),
    );

const reading = (name: string, { show }: NamedField<unknown>): ShownField<unknown>['of'] => {
  const own = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const read = (from: unknown): unknown => (from as Readonly<Record<string, unknown>>)[own];
  return show === undefined ? read : (from) => show(read(from));
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
