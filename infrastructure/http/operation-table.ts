import { REQUEST_BYTES } from './bodies/form-stream.ts';
import { limitOf } from './openapi/operation.ts';
import type { BodyContent, Environment, OpenApiDocument, OperationSpec } from './openapi/operation.ts';
import { operationsIn } from './resources/endpoints.ts';
import type { Serving } from './resources/endpoint.ts';
import { headerReader, queryReader } from './requests/parameters.ts';
import { DocumentValidators } from '../../application/schemas/document-validators.ts';
import { recogniser } from '../../application/schemas/recogniser.ts';
import type { Component } from '../../application/schemas/schema.ts';
import type { BodyKind, JsonKind, Operation } from './operation.ts';

const MEBIBYTE = 1_048_576;
const BODY = 'body';

const FILE_BYTES = { sandbox: 2 * MEBIBYTE - 1, production: 10 * MEBIBYTE } as const;

const jsonKind = (
  schema: Component,
  name: string,
  document: OpenApiDocument,
  validators: DocumentValidators,
): JsonKind => ({
  name,
  recognise: recogniser(document, schema.name),
  validate: validators.component(schema.name, name),
});

const bodyKind = (
  content: BodyContent,
  document: OpenApiDocument,
  validators: DocumentValidators,
  fileBytes: number,
): BodyKind => {
  const { mediaType, dataPart, schema } = content;
  const common = { mediaType, ...jsonKind(schema, dataPart ?? BODY, document, validators) };
  const dataBytes = limitOf(content);
  if (dataPart === undefined) return { ...common, limit: dataBytes };
  return { ...common, limit: REQUEST_BYTES, form: { fileBytes, dataBytes } };
};

const producedBy = (spec: OperationSpec): readonly string[] => {
  const described = spec.success.find(({ mediaType }) => mediaType !== undefined);
  return [described?.mediaType ?? 'application/json', ...(described?.otherMediaTypes ?? [])];
};

export const operationTable = (
  document: OpenApiDocument,
  serving: Serving,
  environment: Environment,
): readonly Operation[] => {
  const parameters = document.components['parameters'] ?? {};
  const validators = new DocumentValidators(document);
  return operationsIn(environment).map((spec): Operation => {
    const method = spec.method.toUpperCase();
    return {
      id: spec.id,
      method,
      path: spec.path,
      endpoint: `${method} ${spec.path}`,
      access: spec.access,
      allFunds: spec.allFunds === true,
      bucket: spec.bucket,
      bodies: (spec.body ?? []).map((content) =>
        bodyKind(content, document, validators, FILE_BYTES[environment]),
      ),
      lines: spec.lines && {
        ...spec.lines,
        kind: jsonKind(spec.lines.schema, BODY, document, validators),
      },
      readQuery: queryReader(spec, parameters, validators),
      readHeaders: headerReader(spec, parameters, validators),
      produces: producedBy(spec),
      handler: spec.handler(serving),
    };
  });
};
