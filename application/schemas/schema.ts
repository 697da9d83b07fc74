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

export const nullable = (schema: Schema): Schema => ({ ...schema, type: [schema['type'], 'null'] });
