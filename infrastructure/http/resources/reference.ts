import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { PAGE_POLICY } from '../docs/reference-page.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { endpoint } from '../operation.ts';
import { REVALIDATE, served, ServedContent } from '../docs/served-content.ts';
import { GUIDE_POLICY } from '../docs/guides/guides.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { holdsMoney } from '../../../application/support/json-amounts.ts';
import type { PublicAddresses, OpenApiDocument } from '../openapi/operation.ts';
import { HEAPS, threadOptions } from '../../support/threads.ts';
import { asyncApiDocument } from '../../../application/publication/description/asyncapi-document.ts';
import { API_VERSION } from '../openapi/version.ts';
import { whenAsked } from '../../support/opening.ts';
import type { Handler } from '../operation.ts';

const PAGE = {
  mediaType: 'text/html',
  schema: { type: 'string' },
  example: '<!doctype html>',
} as const;

/** The name of a file changes with its content. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable'];

export const readReference = endpoint({
  id: 'readReference',
  request: 'GET /docs',
  access: 'public',
  summary: 'Interactive reference',
  description:
    'This description as a page for people, with requests to try. Everything it needs is served here.',
  success: served({ description: 'The page.', ...PAGE }),
  handler:
    ({ reference }) =>
    async ({ req }) => ({
      ...(await (await reference()).page.replyTo(req, REVALIDATE)),
      contentSecurityPolicy: PAGE_POLICY,
    }),
});

/** The addresses of the page are relative, so it works there as well. */
export const readRoot: typeof readReference = {
  ...readReference,
  id: 'readRoot',
  path: '/',
  summary: 'The same page, at the bare address',
};

export const readReferenceAsset = endpoint({
  id: 'readReferenceAsset',
  request: 'GET /docs/{asset}',
  access: 'public',
  summary: 'A file of the reference',
  description:
    'Scripts and styles of the page and of the guides. Their names change with their content, so they may be kept.',
  parameters: ['DocsAsset'],
  success: served({
    description: 'The file.',
    mediaType: 'text/javascript',
    otherMediaTypes: ['text/css'],
    schema: { type: 'string' },
    example: "'use strict';",
  }),
  errors: ['not_found'],
  handler:
    ({ reference, guides }) =>
    async ({ req, params }) => {
      const name = params['asset'] ?? '';
      const isOfGuides = name === guides.stylesheetName;
      const asset = isOfGuides ? guides.stylesheet : (await reference()).assets.get(name);
      if (asset) return asset.replyTo(req, FOREVER);
      throw new HttpProblem('not_found', 'the reference has no such file');
    },
});

const SUCCESS = served({ ...PAGE, description: 'The page.' });
const contentSecurityPolicy = GUIDE_POLICY;

export const readGuides = endpoint({
  id: 'readGuides',
  request: 'GET /docs/guides',
  access: 'public',
  summary: 'All guides',
  description: 'What there is to read beside the reference, as a page for people.',
  success: SUCCESS,
  handler:
    ({ guides: { list } }) =>
    async ({ req }) => ({ ...(await list.replyTo(req, REVALIDATE)), contentSecurityPolicy }),
});

export const readGuide = endpoint({
  id: 'readGuide',
  request: 'GET /docs/guides/{guide}',
  access: 'public',
  summary: 'A guide',
  description: 'One of them as a page for people, such as `integrators-guide`, `lifecycle` or `going-live`.',
  parameters: ['Guide'],
  success: SUCCESS,
  errors: ['not_found'],
  handler:
    ({ guides }) =>
    async ({ req, params }) => {
      const page = await guides.page(params['guide'] ?? '');
      if (page) return { ...(await page.replyTo(req, REVALIDATE)), contentSecurityPolicy };
      throw new HttpProblem('not_found', 'there is no such guide; /docs/guides lists all of them');
    },
});

export const searchGuides = endpoint({
  id: 'searchGuides',
  request: 'GET /docs/search',
  access: 'public',
  summary: 'Search the guides',
  description:
    'The sections of all guides that explain these words, the best first, with the passage, as a page for people. At most 20.',
  parameters: ['GuideQuestion'],
  success: [{ status: 200, ...PAGE, description: 'What was found, which may be nothing.' }],
  errors: ['invalid_query_parameter'],
  handler:
    ({ guides }) =>
    async ({ query }) => ({
      status: 200,
      bytes: await guides.answer(String(query['q'] ?? '')),
      mediaType: 'text/html; charset=utf-8',
      contentSecurityPolicy,
    }),
});

/** Versions before the present one, oldest first. A release adds the description that it replaces to `openapi/released/`. */
export const RELEASED_VERSIONS = ['2026.11.0', '2026.11.1', '2026.11.2', '2026.11.3', '2026.11.4'] as const;

/** Stand in the files where the addresses of a service go. */
export const PLACEHOLDERS = {
  publicUrl: 'https://public-url.invalid',
  authUrl: 'https://auth-url.invalid',
} as const;

/** The description as that version served it, with these addresses. @param version one of RELEASED_VERSIONS */
const releasedDescription = async (
  version: string,
  { publicUrl, authUrl }: PublicAddresses,
): Promise<Schema> => {
  const text = await readFile(new URL(`../openapi/released/${version}.json`, import.meta.url), 'utf8');
  return JSON.parse(
    text.replaceAll(PLACEHOLDERS.publicUrl, publicUrl).replaceAll(PLACEHOLDERS.authUrl, authUrl),
  ) as Schema;
};

/** Examples show amounts as answers do. */
const withDecimals = (name: string, value: unknown): unknown =>
  typeof value === 'number' && holdsMoney(name) ? JSON.rawJSON(value.toFixed(2)) : value;

const servedAsJson = (document: Schema): ServedContent =>
  new ServedContent(Buffer.from(JSON.stringify(document, withDecimals)), 'application/json; charset=utf-8');

const THREAD = new URL('../openapi/yaml-thread.ts', import.meta.url);

/** Printed in a thread that ends then: a request beside it would wait. */
const servedAsYaml = async (document: Schema): Promise<ServedContent> => {
  const worker = new Worker(THREAD, { ...threadOptions('yaml', HEAPS.yaml), workerData: document });
  const [text] = (await once(worker, 'message')) as [string];
  return new ServedContent(Buffer.from(text), 'application/yaml; charset=utf-8');
};

/** A start waits for no text that nobody may ask for. */
const documentHandler = (make: () => Promise<ServedContent>): Handler['run'] => {
  const content = whenAsked(make);
  return async ({ req }) => (await content()).replyTo(req, REVALIDATE);
};

const releasedHandler = (document: OpenApiDocument, addresses: PublicAddresses): Handler['run'] => {
  const versions = new Map(
    RELEASED_VERSIONS.map((version) => [
      version as string,
      documentHandler(async () => servedAsJson(await releasedDescription(version, addresses))),
    ]),
  );
  versions.set(
    API_VERSION,
    documentHandler(async () => servedAsJson(document)),
  );
  return (call) => {
    const version = versions.get(call.params['version']!);
    if (version) return version(call);
    throw new HttpProblem('not_found', `no such version; there are ${[...versions.keys()].join(', ')}`);
  };
};

const asJson = (format: string, version: string) =>
  served({
    description: `${format} ${version}.`,
    mediaType: 'application/json',
    schema: { type: 'object' },
    example: { [format.toLowerCase()]: version },
  });

const asYaml = (format: string, version: string) => {
  const name = format.toLowerCase();
  return served({
    description: `${format} ${version}.`,
    mediaType: 'application/yaml',
    schema: { description: `The document of \`/${name}.json\`, written as YAML.` },
    example: `${name}: ${version}`,
  });
};

export const readDescriptionAsJson = endpoint({
  id: 'readDescriptionAsJson',
  request: 'GET /openapi.json',
  access: 'public',
  summary: 'This description as JSON',
  description: 'Supports If-None-Match.',
  success: asJson('OpenAPI', '3.1.0'),
  handler: ({ document }) => documentHandler(async () => servedAsJson(document)),
});

export const readDescriptionAsYaml = endpoint({
  id: 'readDescriptionAsYaml',
  request: 'GET /openapi.yaml',
  access: 'public',
  summary: 'This description as YAML',
  description: 'Supports If-None-Match.',
  success: asYaml('OpenAPI', '3.1.0'),
  handler: ({ document }) => documentHandler(() => servedAsYaml(document)),
});

export const readReleasedDescription = endpoint({
  id: 'readReleasedDescription',
  request: 'GET /openapi/{version}.json',
  access: 'public',
  summary: 'The description of a version, as JSON',
  description:
    'Each published version as it was, with the addresses of this service; for comparing and for clients made from it. Supports If-None-Match.',
  parameters: ['DescriptionVersion'],
  success: asJson('OpenAPI', '3.1.0'),
  errors: ['not_found'],
  handler: ({ document, addresses }) => releasedHandler(document, addresses),
});

export const readTopicsAsJson = endpoint({
  id: 'readTopicsAsJson',
  request: 'GET /asyncapi.json',
  access: 'public',
  summary: 'The topics of events and decisions as JSON',
  description: 'What travels between the service and the other systems of a fund. Supports If-None-Match.',
  success: asJson('AsyncAPI', '3.0.0'),
  handler: () => documentHandler(async () => servedAsJson(asyncApiDocument(API_VERSION))),
});

export const readTopicsAsYaml = endpoint({
  id: 'readTopicsAsYaml',
  request: 'GET /asyncapi.yaml',
  access: 'public',
  summary: 'The topics of events and decisions as YAML',
  description: 'The document of `/asyncapi.json`, written as YAML. Supports If-None-Match.',
  success: asYaml('AsyncAPI', '3.0.0'),
  handler: () => documentHandler(() => servedAsYaml(asyncApiDocument(API_VERSION))),
});
