import { ELSEWHERE } from './schema.ts';
import type { Schema } from './schema.ts';

/** How deep a schema is built: what is known at each place of a body, without the rules for its values. */
export type Shape = ObjectShape | ListShape | { readonly kind: 'value' };

export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Field>;
  /** The schema refuses every other field itself. */
  readonly closed: boolean;
  /** Fields that callers know from other requests, with the reason why they are not here. */
  readonly elsewhere: Readonly<Record<string, string>>;
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

const VALUE: Shape = { kind: 'value' };
const LONGEST_LIST = 500;

/** The shape of a component of the document. */
export const shapeOf = (document: Schema, component: string): Shape => {
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
    if (items) return { kind: 'list', items: shape(items), most: maxItems ?? LONGEST_LIST };
    if (!properties) return VALUE;
    const closed = schema['additionalProperties'] === false;
    const fields = Object.entries(properties).map(([name, property]): [string, Field] => [
      name,
      { shape: shape(property), nullIsAbsent: !closed && !required?.includes(name) },
    ]);
    const elsewhere = (schema as { readonly [ELSEWHERE]?: ObjectShape['elsewhere'] })[ELSEWHERE] ?? {};
    return { kind: 'object', fields: new Map(fields), closed, elsewhere };
  };

  return shape({ $ref: `#/components/schemas/${component}` });
};
