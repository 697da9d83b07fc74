import type { DocumentValidators } from '../../../application/schemas/document-validators.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { OperationSpec } from '../openapi/operation.ts';
import { refusalFor } from './refusal.ts';

/** By the name as published. */
export type ReadHeaders = Readonly<Record<string, string | undefined>>;
export type HeaderReader = (headers: NodeJS.Dict<string | string[]>) => ReadHeaders;

const NONE: ReadHeaders = {};

/** Reads the published request headers of an operation. @throws HttpProblem `validation_error` */
export const headerReader = (
  { parameters: names = [] }: OperationSpec,
  parameters: Readonly<Record<string, Schema>>,
  validators: DocumentValidators,
): HeaderReader => {
  const known = names
    .filter((name) => parameters[name]?.['in'] === 'header')
    .map((component) => {
      const name = String(parameters[component]?.['name']);
      return { name, validate: validators.at(['components', 'parameters', component, 'schema'], name) };
    });
  if (known.length === 0) return () => NONE;
  return (headers) => {
    const read = known.map(({ name, validate }) => ({ name, validate, value: headers[name.toLowerCase()] }));
    const violations = read.flatMap(({ validate, value }) => (value === undefined ? [] : validate(value)));
    if (violations.length > 0) throw refusalFor(violations);
    return Object.fromEntries(read.map(({ name, value }) => [name, value as string | undefined]));
  };
};
