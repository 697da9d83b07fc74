import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Schema } from '../../../application/schemas/schema.ts';
import type { PublicAddresses, OpenApiDocument } from '../openapi/operation.ts';
import { REVALIDATE, ServedContent, served } from '../docs/served-content.ts';
import { HEAPS, threadOptions } from '../../support/threads.ts';
import { asyncApiDocument } from '../../../application/publication/description/asyncapi-document.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { API_VERSION } from '../openapi/version.ts';
import { whenAsked } from '../../support/opening.ts';
import type { Handler } from '../operation.ts';
import { endpoint } from '../operation.ts';

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

const servedAsJson = (document: Schema): ServedContent =>
  new ServedContent(Buffer.from(JSON.stringify(document)), 'application/json; charset=utf-8');

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
