/** As much of a schema as types follow from. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: string | number | boolean;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly description?: string;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Where a type is named otherwise than its component: `Error` is one of JavaScript's own. */
const RENAMED: Readonly<Record<string, string>> = { Error: 'Refusal' };
/** What stands for a component where it is referred to: for what all events have in common, one of them. */
const STANDS_FOR: Readonly<Record<string, string>> = { EventEnvelope: 'WebhookEvent' };

/** Name of the component that a reference points to. */
export const componentOf = (reference: string): string => reference.split('/').at(-1) ?? '';

const typeName = (component: string): string => RENAMED[component] ?? component;

/** The type that a reference to a component means. */
export const referredTo = (reference: string): string => {
  const component = componentOf(reference);
  return STANDS_FOR[component] ?? typeName(component);
};

/** The comment above a declaration, wrapped in nothing: editors do that. */
export const comment = (text: string | undefined, indent = ''): string =>
  text === undefined
    ? ''
    : `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', `\n${indent} * `)} */\n`;

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const NUMBERS = new Set(['integer', 'number']);

const typeOfKind = (kind: string, schema: Schema, indent: string): string => {
  if (NUMBERS.has(kind)) return 'number';
  if (kind === 'array') {
    const entry = typeOf(schema.items ?? {}, indent);
    return entry.includes(' | ') ? `(${entry})[]` : `${entry}[]`;
  }
  if (kind !== 'object') return kind;
  return schema.properties ? membersOf(schema, indent) : 'Record<string, unknown>';
};

const membersOf = ({ properties = {}, required = [] }: Schema, indent: string): string => {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, member]) => {
    const type = typeOf(member, inner);
    const declared = required.includes(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
    return `${comment(member.description, inner)}${inner}${declared};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
};

/** The type of what a schema allows. */
export const typeOf = (schema: Schema, indent = ''): string => {
  const { $ref, enum: values, oneOf, anyOf, type } = schema;
  if ($ref !== undefined) return referredTo($ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values) return union(values.map((value) => JSON.stringify(value)));
  const several = oneOf ?? anyOf;
  if (several) return union(several.map((one) => typeOf(one, indent)));
  if (type === undefined) return schema.properties ? membersOf(schema, indent) : 'unknown';
  return union([type].flat().map((kind) => typeOfKind(kind, schema, indent)));
};

/** What a component declares. One that builds on another one narrows its fields, and asks for all that the other asks for. */
export const declarationOf = (component: string, schemas: Schemas): string => {
  const schema = schemas[component] ?? {};
  const [base] = schema.allOf ?? [];
  const name = typeName(component);
  const documented = comment(schema.description);
  if (base?.$ref !== undefined) {
    const above = componentOf(base.$ref);
    const required = [...(schema.required ?? []), ...(schemas[above]?.required ?? [])];
    const members = membersOf({ ...schema, required }, '');
    return `${documented}export interface ${name} extends ${typeName(above)} ${members}\n`;
  }
  if (schema.type === 'object' && schema.properties && !schema.oneOf && !schema.anyOf) {
    return `${documented}export interface ${name} ${membersOf(schema, '')}\n`;
  }
  return `${documented}export type ${name} = ${typeOf(schema)};\n`;
};
