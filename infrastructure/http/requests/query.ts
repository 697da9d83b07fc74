import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { nearest } from '../../../application/schemas/recogniser.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { OperationSpec } from '../openapi/operation.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { DocumentValidators, Validator } from '../../../application/schemas/document-validators.ts';

export type Query = Readonly<Record<string, string | number | undefined>>;
export type QueryReader = (search: string) => Query;

interface QueryParameter {
  readonly name: string;
  readonly validate: Validator;
  readonly numeric: boolean;
  readonly fallback: string | number | undefined;
}

const EMPTY: Query = {};
/** How much of a name that is not known is sent back. */
const LONGEST_NAME = 60;

const parameterOf = (name: string, definition: Schema, validators: DocumentValidators): QueryParameter => {
  const schema = definition['schema'] as Schema;
  return {
    name: String(definition['name']),
    validate: validators.at(['components', 'parameters', name, 'schema'], String(definition['name'])),
    numeric: schema['type'] === 'integer',
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
  const value = parameter.numeric && /^\d{1,9}$/.test(text) ? Number(text) : text;
  violations.push(...parameter.validate(value));
  return value;
};

const MOST_COMPARED = 100;

const unknownOf = (given: URLSearchParams, known: readonly string[]): readonly FieldViolation[] =>
  [...new Set(given.keys())]
    .filter((name) => !known.includes(name))
    .slice(0, MOST_COMPARED)
    .map((name) => {
      const close = nearest(name, known);
      const hint = close === undefined ? 'this request has none' : `the nearest one is ${close}`;
      return {
        field: name.slice(0, LONGEST_NAME),
        code: 'unknown_parameter',
        message: `is not a parameter here; ${hint}`,
      };
    });

/** Reads the published query parameters of an operation. @throws HttpProblem `invalid_query_parameter` */
export const queryReader = (
  { parameters: names = [], method, access }: OperationSpec,
  parameters: Readonly<Record<string, Schema>>,
  validators: DocumentValidators,
): QueryReader => {
  const known = names
    .filter((name) => parameters[name]?.['in'] === 'query')
    .map((name) => parameterOf(name, parameters[name] ?? {}, validators));
  const knownNames = known.map(({ name }) => name);
  // A filter that is misspelt would silently answer more than was asked for. Public pages are often asked for with tracking
  // parameters of others, and what has no query of its own loses nothing.
  const strict = method === 'get' && access !== 'public';
  if (known.length === 0 && !strict) return () => EMPTY;
  return (search) => {
    if (search === '' && known.length === 0) return EMPTY;
    const given = new URLSearchParams(search);
    const violations: FieldViolation[] = strict ? [...unknownOf(given, knownNames)] : [];
    const query = Object.fromEntries(
      known.map((parameter) => [
        parameter.name,
        valueOf(parameter, given.getAll(parameter.name), violations),
      ]),
    );
    if (violations.length > 0) throw invalidQuery(violations);
    return query;
  };
};

const invalidQuery = (violations: readonly FieldViolation[]): HttpProblem => {
  const message = violations.map(({ field, message: what }) => `${field} ${what}`).join('; ');
  return new HttpProblem('invalid_query_parameter', message, violations);
};
