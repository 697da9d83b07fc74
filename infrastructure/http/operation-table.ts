import { MultipartReceiver } from './bodies/multipart-receiver.ts';
import { operationsIn } from './openapi/document.ts';
import type { Environment, OpenApiDocument } from './openapi/document.ts';
import { limitOf } from './openapi/operation.ts';
import type { BodyContent, OperationSpec } from './openapi/operation.ts';
import { headerReader } from './requests/headers.ts';
import { queryReader } from './requests/query.ts';
import { DocumentValidators } from '../../application/schemas/document-validators.ts';
import { recogniser } from '../../application/schemas/recogniser.ts';
import type { BodyKind, Handler, Operation } from './operation.ts';

const MEBIBYTE = 1_048_576;
const UPLOAD_BYTES = 50 * MEBIBYTE;
const FORM_BYTES = MEBIBYTE;
const FILES = 20;

/** Most bytes of one uploaded file. */
export const FILE_BYTES = { sandbox: 2 * MEBIBYTE - 1, production: 10 * MEBIBYTE } as const;

const bodyKind = (
  content: BodyContent,
  document: OpenApiDocument,
  validators: DocumentValidators,
  fileBytes: number,
): BodyKind => {
  const { mediaType, dataPart } = content;
  const name = dataPart ?? 'body';
  const component = typeof content.schema === 'string' ? content.schema : content.schema.name;
  const common = {
    mediaType,
    name,
    recognise: recogniser(document, component),
    validate: validators.component(component, name),
  };
  const dataBytes = limitOf(content);
  if (dataPart === undefined) return { ...common, limit: dataBytes };
  const limits = { requestBytes: UPLOAD_BYTES, formBytes: FORM_BYTES, fileBytes, files: FILES, dataBytes };
  return { ...common, limit: UPLOAD_BYTES, form: new MultipartReceiver(dataPart, limits) };
};

const producedBy = (spec: OperationSpec): readonly string[] => {
  const described = spec.success.find(({ mediaType }) => mediaType !== undefined);
  return [described?.mediaType ?? 'application/json', ...(described?.otherMediaTypes ?? [])];
};

/** Joins every published operation with its handler. @throws Error when either is without the other */
export const operationTable = (
  document: OpenApiDocument,
  handlers: Readonly<Record<string, Handler>>,
  environment: Environment,
): readonly Operation[] => {
  const specs = operationsIn(environment);
  const parameters = document.components['parameters'] ?? {};
  const validators = new DocumentValidators(document);
  const stray = Object.keys(handlers).filter((id) => !specs.some((spec) => spec.id === id));
  if (stray.length > 0) throw new Error(`handlers of operations that are not published: ${stray.join(', ')}`);
  return specs.map((spec): Operation => {
    const handler = handlers[spec.id];
    if (handler === undefined) throw new Error(`the published operation ${spec.id} has no handler`);
    const method = spec.method.toUpperCase();
    return {
      id: spec.id,
      method,
      path: spec.path,
      endpoint: `${method} ${spec.path}`,
      access: spec.access,
      bucket: spec.bucket,
      bodies: (spec.body ?? []).map((content) =>
        bodyKind(content, document, validators, FILE_BYTES[environment]),
      ),
      readQuery: queryReader(spec, parameters, validators),
      readHeaders: headerReader(spec, parameters, validators),
      produces: producedBy(spec),
      handler,
    };
  });
};
