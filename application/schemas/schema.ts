import type { Static, TUnsafe } from 'typebox';

/** A JSON Schema (2020-12), or any other node of the interface description. */
export type Schema = { readonly [keyword: string]: unknown };

/** A schema that lets values of this type through. What is written out in full has its type from its own keywords. */
export type SchemaOf<Type> = Schema & TUnsafe<Type>;

export interface Component<Type = unknown> {
  readonly name: string;
  readonly schema: SchemaOf<Type>;
}
export type TypeOf<Named extends Component> = Named extends Component<infer Type> ? Type : never;

/** What a caller reads about a value that breaks a schema. `code` is stable. */
export interface SchemaViolation {
  readonly code: string;
  readonly message: string;
}

/** Schema extension: violations by keyword; `*` stands for every keyword without an entry of its own. */
export const VIOLATIONS = 'x-violations';

export const refused = (code: string, message: string): Schema => ({
  [VIOLATIONS]: { '*': { code, message } },
});

export const refusedBy = (violations: Readonly<Record<string, SchemaViolation>>): Schema => ({
  [VIOLATIONS]: violations,
});

/** Schema extension: most decimals of a number. JSON Schema's own `multipleOf` would compare binary fractions. */
export const DECIMALS = 'x-decimals';

/** Fields of other requests that callers may expect in this one, with the reason why it has none. Not published. */
export const ELSEWHERE = Symbol('fields that belong elsewhere');

/** Schema extension, not published: the entries of this list are judged one by one, elsewhere; whatever they are, they pass here. */
export const JUDGED_ALONE = Symbol('a list of entries that are judged one by one');

/**
 * Schema extension, not published: what an earlier rule let through. It may stand in the replay of a request that was accepted then, so
 * where nothing else is wrong it passes, and the use case refuses it where it would be new.
 */
export const ACCEPTED_BEFORE = Symbol('a pattern of earlier versions');

type Properties = Readonly<Record<string, Schema>>;
type ObjectOf<Fields extends Properties, Optional extends keyof Fields> = {
  readonly [
    Name in keyof ({
      readonly [Required in Exclude<keyof Fields, Optional>]: unknown;
    } & { readonly [Name in Optional]?: unknown })
  ]: Static<Fields[Name]>;
};

/** The type is stated by the builders below, which make the schema that it belongs to. */
const typed = <Type>(schema: Schema): SchemaOf<Type> => schema as SchemaOf<Type>;

export const component = <const Given extends Schema>(
  name: string,
  schema: Given,
): Component<Static<Given>> => ({ name, schema: typed(schema) });

export const componentOf = <Type>(name: string, schema: Schema): Component<Type> => ({
  name,
  schema: typed(schema),
});

export const schemasOf = (...components: readonly Component[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(components.map(({ name, schema }) => [name, schema]));

/** What a reference leads to; not published. */
const TARGET = Symbol('the component that is referred to');

export const ref = <Type>(to: Component<Type> | string): SchemaOf<Type> =>
  typed(
    typeof to === 'string'
      ? { $ref: `#/components/schemas/${to}` }
      : { $ref: `#/components/schemas/${to.name}`, [TARGET]: to },
  );

/** All components that these refer to, directly or by way of others. */
export const schemasBelow = (nodes: readonly Schema[]): Readonly<Record<string, Schema>> => {
  const found = new Map<string, Schema>();
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { [TARGET]: target } = node as { readonly [TARGET]?: Component };
    if (target && !found.has(target.name)) {
      found.set(target.name, target.schema);
      look(target.schema);
    }
    Object.values(node).forEach(look);
  };
  nodes.forEach(look);
  return Object.fromEntries(found);
};

/** An object; every property is required unless `optional` names it. */
export const object = <const Fields extends Properties, const Optional extends keyof Fields & string = never>(
  properties: Fields,
  optional: readonly Optional[] = [],
): SchemaOf<ObjectOf<Fields, Optional>> =>
  typed({
    type: 'object',
    required: Object.keys(properties).filter((name) => !(optional as readonly string[]).includes(name)),
    properties,
  });

export const partial = <const Fields extends Properties>(
  properties: Fields,
): SchemaOf<ObjectOf<Fields, keyof Fields & string>> => typed({ type: 'object', properties });

/** As `object`, but an optional property may also be null, which is the same as leaving it out. */
export const requestObject = <
  const Fields extends Properties,
  const Optional extends keyof Fields & string = never,
>(
  properties: Fields,
  optional: readonly Optional[] = [],
): SchemaOf<ObjectOf<Fields, Optional>> => {
  const nullIsAbsent = ([name, schema]: [string, Schema]): [string, Schema] => [
    name,
    (optional as readonly string[]).includes(name) ? absentWhenNull(schema) : schema,
  ];
  return typed(object(Object.fromEntries(Object.entries(properties).map(nullIsAbsent)), optional));
};

const absentWhenNull = (schema: Schema): Schema => {
  const { $ref, ...rest } = schema;
  return $ref === undefined ? nullable(schema) : { anyOf: [{ $ref }, { type: 'null' }], ...rest };
};

export const nullable = <const Given extends Schema>(schema: Given): SchemaOf<Static<Given> | null> =>
  typed({
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(schema['enum']) && { enum: [...(schema['enum'] as readonly unknown[]), null] }),
  });

export const listOf = <const Items extends Schema>(
  items: Items,
  keywords: Schema = {},
): SchemaOf<readonly Static<Items>[]> => typed({ type: 'array', items, ...keywords });

export const text = (keywords: Schema = {}): SchemaOf<string> => typed({ type: 'string', ...keywords });

export const oneOf = <const Value extends string>(
  values: readonly Value[],
  keywords: Schema = {},
): SchemaOf<Value> => typed({ type: 'string', enum: [...values], ...keywords });
