import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import { ACCEPTED_BEFORE, DECIMALS, JUDGED_ALONE, VIOLATIONS } from './schema.ts';
import type { Schema, SchemaViolation } from './schema.ts';
import { FORMATS } from './values.ts';

/** Text that every engine can store and give back as it was: well-formed Unicode without NUL. */
export const isSoundText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Stands for a number whose text says more than two decimals, however its nearest double looks: it has three, and no amount has. */
const OVERPRECISE = '0.001';

/** Up to 15 significant digits survive a double, so only longer numbers need a second look. Nearly no request has one. */
const HAS_LONG_NUMBER = /\d[\d.]{15}/;
/** Texts, so that nothing inside of them is taken for a number, and numbers of that length. */
const TEXT_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]{15,}/g;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const withoutTrailingZeros = (digits: string): number => {
  let length = digits.length;
  while (length > 0 && digits.charCodeAt(length - 1) === 48) length -= 1;
  return length;
};

/** Whether the decimal text has significant digits beyond the second decimal place; `10.100` has not. */
const isOverprecise = (source: string): boolean => {
  const parts = NUMBER.exec(source);
  if (!parts) return false;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = whole + fraction;
  const significant = withoutTrailingZeros(digits);
  const decimals = fraction.length - (digits.length - significant) - Number(exponent);
  return significant > 0 && decimals > 2;
};

/** Lets no double hide a third decimal: the schema of amounts finds it. @throws SyntaxError */
export const parseExactJson = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  if (!HAS_LONG_NUMBER.test(text)) return value;
  const marked = text.replace(TEXT_OR_LONG_NUMBER, (token) => (isOverprecise(token) ? OVERPRECISE : token));
  return JSON.parse(marked);
};

/** Paths of known fields are shorter; unknown names of a hostile body are not sent back in full. */
export const LONGEST_PATH = 200;

/** Names and indexes as a reader writes them: `installments[2].due_date`. */
export const readablePath = (segments: readonly (string | number)[]): string =>
  segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`;
    return path === '' ? segment : `${path}.${segment}`;
  }, '');

export const MOST_VIOLATIONS = 100;

const pathOf = (pointer: string, last: string | undefined): string => {
  const segments = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((name) => (/^\d+$/.test(name) ? Number(name) : name));
  return readablePath(last === undefined ? segments : [...segments, last]);
};

const publishedFor = (error: ErrorObject): SchemaViolation | undefined => {
  const table = (error.parentSchema as Record<string, Record<string, SchemaViolation>> | undefined)?.[
    VIOLATIONS
  ];
  return table?.[error.keyword] ?? table?.['*'];
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a JSON number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Whoever sent a value of another type learns that first; a rule may name its type itself. That null would do is no help. */
const wrongType = (error: ErrorObject): SchemaViolation => {
  const types = [error.params['type'] as string | readonly string[]].flat().filter((type) => type !== 'null');
  const type = types.map((name) => TYPES[name] ?? name).join(' or ');
  const { code, message } = publishedFor(error) ?? { code: 'invalid_type', message: '' };
  if (message.startsWith(`must be ${type}`)) return { code, message };
  const rule = message.replace(/^must be /, '');
  return { code, message: `must be ${type}${rule === '' ? '' : `: ${rule}`}` };
};

const byKeyword = (error: ErrorObject): SchemaViolation => {
  if (error.keyword === 'type') return wrongType(error);
  const published = error.keyword === 'required' ? undefined : publishedFor(error);
  if (published) return published;
  if (error.keyword === 'required') return { code: 'required', message: 'is required' };
  return { code: 'invalid_value', message: error.message ?? 'is not allowed' };
};

const memberOf = (error: ErrorObject): string | undefined => {
  const params = error.params as { missingProperty?: string; additionalProperty?: string };
  return params.missingProperty ?? params.additionalProperty;
};

const violationOf = (error: ErrorObject, root: string): FieldViolation => {
  const path = pathOf(error.instancePath, memberOf(error));
  return { field: path === '' ? root : path.slice(0, LONGEST_PATH), ...byKeyword(error) };
};

/** One entry for each field and code: a text that breaks length and pattern is reported once. */
export const withoutRepetitions = (violations: readonly FieldViolation[]): readonly FieldViolation[] =>
  [...Map.groupBy(violations, ({ field, code }) => `${field}\n${code}`).values()].map(([first]) => first!);

/** Keywords that only repeat what the schemas inside of them have said. */
const REPEATING: ReadonlySet<string> = new Set(['if', 'anyOf']);
/** Where null is allowed, saying so helps nobody: null means leaving the field out. */
const isNullBranch = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'type' && params['type'] === 'null';

const NONE: readonly FieldViolation[] = [];

const wasAccepted = ({ keyword, parentSchema, data }: ErrorObject): boolean => {
  const earlier = (parentSchema as { readonly [ACCEPTED_BEFORE]?: RegExp } | undefined)?.[ACCEPTED_BEFORE];
  return keyword === 'pattern' && typeof data === 'string' && earlier?.test(data) === true;
};

const violationsOf = (errors: readonly ErrorObject[], root: string): readonly FieldViolation[] =>
  withoutRepetitions(
    errors
      .filter((error) => !REPEATING.has(error.keyword) && !isNullBranch(error))
      .map((error) => violationOf(error, root)),
  );

/** Empty when nothing is wrong, but what earlier rules let through. `asNew`: that too. @see ACCEPTED_BEFORE */
export type Validator = (value: unknown, asNew?: boolean) => readonly FieldViolation[];

const DOCUMENT = 'description';

/** Whether the number is the one nearest to a decimal of so few places; finer texts are caught when they are read. */
const hasAtMost = (decimals: number, value: number): boolean => {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit === value;
};

const judgedAlone = (document: Schema, name: string): readonly string[] => {
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Schema>> };
  const fields = (schemas[name]?.['properties'] ?? {}) as Readonly<Record<string, Schema>>;
  return Object.entries(fields)
    .filter(([, field]) => JUDGED_ALONE in field)
    .map(([field]) => `/${field}/`);
};

/** Checks made from the schemas of the published description, so that the two cannot disagree. */
export class DocumentValidators {
  readonly #ajv: Ajv2020;
  readonly #document: Schema;

  constructor(document: Schema) {
    this.#document = document;
    this.#ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
      strictTypes: false,
      strictRequired: false,
      formats: { ...FORMATS },
      // The sections of the description, so that strict mode still finds misspelt keywords in its schemas.
      keywords: [VIOLATIONS, ...Object.keys(document)],
    });
    this.#ajv.addKeyword({
      keyword: DECIMALS,
      type: 'number',
      schemaType: 'number',
      errors: false,
      validate: hasAtMost,
    });
    this.#ajv.addSchema(document, DOCUMENT, undefined, false);
  }

  /** Compiled when it is used first: a start need not wait for it. `pointer` leads to a schema inside of the document; `root` is how messages call the whole value. */
  at(pointer: readonly string[], root: string, alone: readonly string[] = []): Validator {
    const fragment = pointer.map((segment) =>
      encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    let validate: ValidateFunction | undefined;
    return (value, asNew = false) => {
      validate ??= this.#ajv.compile({ $ref: `${DOCUMENT}#/${fragment.join('/')}` });
      if (validate(value)) return NONE;
      const errors = (validate.errors ?? []).filter(
        ({ instancePath }) => !alone.some((place) => instancePath.startsWith(place)),
      );
      return !asNew && errors.every(wasAccepted) ? NONE : violationsOf(errors, root);
    };
  }

  component(name: string, root: string): Validator {
    return this.at(['components', 'schemas', name], root, judgedAlone(this.#document, name));
  }
}
