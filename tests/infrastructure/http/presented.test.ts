import { describe, expect, test } from '@jest/globals';
import { presented } from '../../../infrastructure/http/docs/reference-page.ts';
import { openApiDocument } from '../../../infrastructure/http/openapi/document.ts';

type Json = ReturnType<typeof JSON.parse>;

const document: Json = openApiDocument({
  publicUrl: 'https://api.receivables.test',
  authUrl: 'https://auth.receivables.test/identity',
});
const page: Json = presented(document);

const responsesOf = (of: Json): Json[] => [
  ...Object.values<Json>(of.components.responses),
  ...Object.values<Json>(of.paths).flatMap((methods) =>
    Object.values<Json>(methods).flatMap((operation) => Object.values<Json>(operation.responses)),
  ),
];

const headerNames = (of: Json): Set<string> =>
  new Set(responsesOf(of).flatMap((response) => Object.keys(response.headers ?? {})));

describe('the description as the page shows it', () => {
  test('says the headers of every response once, and keeps those of some', () => {
    const common = [
      ...['X-Request-Id', 'X-SVC-API-Version', 'X-SVC-API-Deprecation'],
      ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
    ];
    const served = headerNames(document);
    for (const name of [...common, 'Retry-After']) expect([name, served.has(name)]).toEqual([name, true]);
    expect([...headerNames(page)]).toEqual([...served].filter((name) => !common.includes(name)));
    for (const name of common) expect(page.info.description).toContain(`| \`${name}\` |`);
  });

  test('lists every error code once, with its HTTP number', () => {
    for (const code of document.components.schemas.Error.properties.error_code.enum) {
      expect(page.info.description.split(`| \`${code}\` |`)).toHaveLength(2);
    }
  });

  test('fills in no parameter that may be left out', () => {
    const optional = Object.values<Json>(page.components.parameters).filter(
      (parameter) => parameter.in === 'query' && !parameter.required,
    );
    expect(optional.length).toBeGreaterThan(4);
    for (const { example, examples } of optional) {
      expect([example, examples]).toEqual([undefined, { none: { value: '', 'x-disabled': true } }]);
    }
  });

  test('leads to the guides from wherever it was opened', () => {
    expect(document.externalDocs.url).toBe('https://api.receivables.test/docs/guides');
    expect(page.externalDocs.url).toBe('docs/guides');
    for (const { description, externalDocs } of page.tags) {
      const [, title, place] = /Guide: \[(.+)\]\((.+)\)\.$/.exec(description) ?? [];
      expect(externalDocs).toEqual({ url: place, description: title });
    }
    expect(page.tags).toHaveLength(document.tags.length);
  });

  test('is otherwise what is served', () => {
    const without = ({ components, paths: _, externalDocs: __, tags, ...rest }: Json) => ({
      ...rest,
      tags: tags.map(({ name }: Json) => name),
      components: { ...components, parameters: undefined, responses: undefined },
    });
    expect(without(page)).toEqual(without(document));
  });
});

describe('forms with files', () => {
  const forms = Object.values<Json>(document.paths).flatMap((methods) =>
    Object.values<Json>(methods).flatMap(
      (operation) => operation.requestBody?.content['multipart/form-data'] ?? [],
    ),
  );

  test('name in their example the files that come with it', () => {
    expect(forms).toHaveLength(3);
    for (const { example } of forms) {
      const { files, ...data } = example;
      const documents = JSON.stringify(data).matchAll(/\{"type":"[^"]+","value":"([^"]+)"\}/g);
      expect([...documents].map(([, name]) => name)).toEqual(files);
    }
  });

  test('have files as both generations of the format mark them', () => {
    for (const { schema } of forms) {
      expect(schema.properties.files.items).toEqual({
        type: 'string',
        format: 'binary',
        contentMediaType: 'application/octet-stream',
      });
    }
  });
});

test('tokens are fetched where tokens are issued', () => {
  const { flows } = document.components.securitySchemes.oauth2;
  expect(flows.clientCredentials.tokenUrl).toBe('https://auth.receivables.test/identity/token');
  expect(document.paths['/loan'].post.security).toEqual([
    { oauth2: ['loans:write'] },
    { bearer: ['loans:write'] },
  ]);
});
