/** A JSON Schema (2020-12), or any other node of the interface description. */
export type Schema = { readonly [keyword: string]: unknown };

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

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** An object; every property is required unless `optional` names it. */
export const object = (
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

/**
 * An object of a request; as in `object`, but an optional property may also be null, which is the same as leaving it out.
 */
export const requestObject = (
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema =>
  object(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        optional.includes(name) ? absentWhenNull(schema) : schema,
      ]),
    ),
    optional,
  );

const absentWhenNull = (schema: Schema): Schema => {
  const { $ref, ...rest } = schema;
  return $ref === undefined ? nullable(schema) : { anyOf: [{ $ref }, { type: 'null' }], ...rest };
};

export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });
