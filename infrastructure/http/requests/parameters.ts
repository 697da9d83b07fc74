import type { DocumentValidators, Validator } from '../../../application/schemas/document-validators.ts';
import { meantBy, unaskedFields } from '../../../application/schemas/recogniser.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { OperationSpec } from '../openapi/operation.ts';
import { quoted } from '../../../application/schemas/parse-json.ts';

/** Rules with an error code of their own; it stands for the whole refusal when nothing else is wrong. */
const OWN_CODE: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_webhook_url',
  'invalid_event',
  'immutable_field',
  'empty_update',
]);

const MOST_NAMED = 5;

const summary = (violations: readonly FieldViolation[]): string => {
  const [only] = violations;
  if (violations.length === 1 && only) return `${only.field} ${only.message}`;
  const names = violations.slice(0, MOST_NAMED).map(({ field }) => field);
  const rest = violations.length - names.length;
  return `${violations.length} rules are broken, see details: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** The one refusal that carries the violations of a request. A misspelt field wins: its value was meant to count. */
export const refusalFor = (violations: readonly FieldViolation[]): HttpProblem => {
  const [first] = violations;
  if (violations.some(({ code }) => code === 'unknown_field')) {
    return new HttpProblem('unknown_field', summary(violations), violations);
  }
  const code =
    first && violations.every((violation) => OWN_CODE.has(violation.code)) ? first.code : 'validation_error';
  return new HttpProblem(code as ErrorCode, summary(violations), violations);
};

export type ReadHeaders = Readonly<Record<string, string | undefined>>;

const NONE: ReadHeaders = {};

/** Reads the published request headers of an operation; undefined where there are none. @throws HttpProblem `validation_error` */
export const headerReader = (
  { parameters: names = [] }: OperationSpec,
  parameters: Readonly<Record<string, Schema>>,
  validators: DocumentValidators,
): ((headers: NodeJS.Dict<string | string[]>) => ReadHeaders) | undefined => {
  const known = names
    .filter((name) => parameters[name]?.['in'] === 'header')
    .map((component) => {
      const name = String(parameters[component]?.['name']);
      return {
        name,
        key: name.toLowerCase(),
        validate: validators.at(['components', 'parameters', component, 'schema'], name),
      };
    });
  if (known.length === 0) return undefined;
  return (headers) => {
    if (known.every(({ key }) => headers[key] === undefined)) return NONE;
    const read = known.map(({ name, key, validate }) => ({ name, validate, value: headers[key] }));
    const violations = read.flatMap(({ validate, value }) => (value === undefined ? [] : validate(value)));
    if (violations.length > 0) throw refusalFor(violations);
    return Object.fromEntries(read.map(({ name, value }) => [name, value as string | undefined]));
  };
};

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface QueryParameter {
  readonly name: string;
  readonly validate: Validator;
  readonly type: unknown;
  readonly fallback: string | number | undefined;
}

const EMPTY: Query = {};
/** How much of a name that is not known is sent back. */
const LONGEST_NAME = 60;

const parameterOf = (name: string, definition: Schema, validators: DocumentValidators): QueryParameter => {
  const schema = definition['schema'] as Schema;
  const { type } = schema;
  const place = ['components', 'parameters', name, 'schema', ...(type === 'array' ? ['items'] : [])];
  return {
    name: String(definition['name']),
    validate: validators.at(place, String(definition['name'])),
    type,
    fallback: schema['default'] as string | number | undefined,
  };
};

const valueOf = (parameter: QueryParameter, texts: readonly string[], violations: FieldViolation[]) => {
  const [text] = texts;
  if (text === undefined) return parameter.fallback;
  if (texts.length > 1) {
    violations.push({ field: parameter.name, code: 'invalid_value', message: 'must appear once' });
    return undefined;
  }
  const value = typed(parameter, text);
  violations.push(...parameter.validate(value));
  return value;
};

const typed = ({ type }: QueryParameter, text: string): string | number | boolean => {
  if (type === 'integer' && /^\d{1,9}$/.test(text)) return Number(text);
  return type === 'boolean' ? text === 'true' : text;
};

/** Values with commas between them; some clients send the parameter once for each. What is refused is named. */
const listOf = (
  { name, validate }: QueryParameter,
  texts: readonly string[],
  violations: FieldViolation[],
) => {
  if (texts.length === 0) return undefined;
  const values = [...new Set(texts.flatMap((text) => text.split(',')))];
  const wrong = values.filter((value) => validate(value).length > 0);
  const [first] = wrong.flatMap((value) => validate(value));
  if (first) {
    const named = wrong.slice(0, MOST_NAMED).map((value) => JSON.stringify(quoted(value)));
    violations.push({ field: name, code: first.code, message: `${named.join(', ')}: ${first.message}` });
  }
  return values;
};

const MOST_COMPARED = 100;

const unknownOf = (given: URLSearchParams, known: readonly string[]): readonly FieldViolation[] => {
  const all = known.length === 0 ? 'this request has none' : `there are ${known.join(', ')}`;
  return [...new Set(given.keys())]
    .filter((name) => !known.includes(name))
    .slice(0, MOST_COMPARED)
    .map((name) => {
      // Many libraries write the name of a list with brackets.
      const close = meantBy(name.replace(/\[\d*\]$/, ''), known);
      const hint = close === undefined ? all : `the nearest one is ${close}`;
      return {
        field: name.slice(0, LONGEST_NAME),
        code: 'unknown_parameter',
        message: `is not a parameter here; ${hint}`,
      };
    });
};

/**
 * Reads the published query parameters of an operation; undefined where there is nothing to read or to refuse.
 * @throws HttpProblem `invalid_query_parameter`, `unknown_field` for a trial that the address asks for
 */
export const queryReader = (
  { parameters: names = [], method, access }: OperationSpec,
  parameters: Readonly<Record<string, Schema>>,
  validators: DocumentValidators,
): ((search: string) => Query) | undefined => {
  const known = names
    .filter((name) => parameters[name]?.['in'] === 'query')
    .map((name) => parameterOf(name, parameters[name] ?? {}, validators));
  const knownNames = known.map(({ name }) => name);
  // A filter that is misspelt would silently answer more than was asked for. Public pages are often asked for with tracking
  // parameters of others, and what has no query of its own loses nothing.
  const strict = method === 'get' && access !== 'public';
  const isPublic = access === 'public' || access === 'client_credentials';
  if (!strict && !isPublic) return refuseTrial;
  if (known.length === 0 && !strict) return undefined;
  return (search) => {
    if (search === '' && known.length === 0) return EMPTY;
    const given = new URLSearchParams(search);
    const violations: FieldViolation[] = strict ? [...unknownOf(given, knownNames)] : [];
    const query = Object.fromEntries(
      known.map((parameter) => [
        parameter.name,
        (parameter.type === 'array' ? listOf : valueOf)(parameter, given.getAll(parameter.name), violations),
      ]),
    );
    if (violations.length > 0) throw invalidQuery(violations);
    return query;
  };
};

/** What writes reads nothing in its address, and would take effect there although its sender believes that nothing will happen. */
const refuseTrial = (search: string): Query => {
  const violations = search === '' ? [] : unaskedFields(Object.fromEntries(new URLSearchParams(search)));
  if (violations.length > 0) throw refusalFor(violations);
  return EMPTY;
};

const invalidQuery = (violations: readonly FieldViolation[]): HttpProblem => {
  const message = violations.map(({ field, message: what }) => `${field} ${what}`).join('; ');
  return new HttpProblem('invalid_query_parameter', message, violations);
};
