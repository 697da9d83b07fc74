import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { HttpProblem } from '../errors/http-problem.ts';
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

/** Reads an operation's query parameters as published; others are ignored. @throws HttpProblem `invalid_query_parameter` */
export const queryReader = (
  names: readonly string[],
  parameters: Readonly<Record<string, Schema>>,
  validators: DocumentValidators,
): QueryReader => {
  const known = names
    .filter((name) => parameters[name]?.['in'] === 'query')
    .map((name) => parameterOf(name, parameters[name] ?? {}, validators));
  if (known.length === 0) return () => EMPTY;
  return (search) => {
    const given = new URLSearchParams(search);
    const violations: FieldViolation[] = [];
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
