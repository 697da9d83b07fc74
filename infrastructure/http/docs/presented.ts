import { ALWAYS, RATE_HEADERS } from '../openapi/components/headers.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { Schema } from '../../../application/schemas/schema.ts';

/** Said once, in the introduction, instead of at every response. */
const COMMON = new Set(Object.keys({ ...ALWAYS, ...RATE_HEADERS }));

type Responses = Readonly<Record<string, Schema>>;

const withOwnHeaders = (response: Schema): Schema => {
  const { headers, ...rest } = response as { headers?: Schema } & Schema;
  const own = Object.entries(headers ?? {}).filter(([name]) => !COMMON.has(name));
  return own.length === 0 ? rest : { ...rest, headers: Object.fromEntries(own) };
};

const withoutCommonHeaders = (responses: Responses): Responses =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, withOwnHeaders(response)]),
  );

const inOperation = (operation: Schema): Schema => ({
  ...operation,
  responses: withoutCommonHeaders(operation['responses'] as Responses),
});

/** What nobody has to send is neither filled in nor ticked; the example becomes a word of the description. */
const NOT_SENT = { none: { value: '', 'x-disabled': true } };

const notFilledIn = ({ example, ...parameter }: Schema): Schema =>
  parameter['in'] === 'query' && parameter['required'] !== true
    ? {
        ...parameter,
        description: `${String(parameter['description'])} Such as \`${String(example)}\`.`,
        examples: NOT_SENT,
      }
    : { ...parameter, example };

/** The description as the page shows it: the same, but for what would be repeated or filled in. */
export const presented = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, inOperation(operation as Schema)]),
      ),
    ]),
  ),
  components: {
    ...document.components,
    parameters: Object.fromEntries(
      Object.entries(document.components['parameters'] ?? {}).map(([name, one]) => [name, notFilledIn(one)]),
    ),
    responses: withoutCommonHeaders(document.components['responses'] ?? {}),
  },
});
