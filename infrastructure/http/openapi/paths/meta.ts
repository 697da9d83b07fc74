import { ETAG } from '../components/headers.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

const NOT_MODIFIED = {
  status: 304,
  description: 'The copy that If-None-Match names is current.',
  headers: ETAG,
};
const PUBLIC = { tag: 'Service', access: 'public', errors: [] } as const;

const REFERENCE: OperationSpec = {
  ...PUBLIC,
  id: 'readReference',
  method: 'get',
  path: '/docs',
  bucket: 'read',
  summary: 'Interactive reference',
  description:
    'This description as a page for people, with requests to try. Everything it needs is served here.',
  success: [
    {
      status: 200,
      description: 'The page.',
      mediaType: 'text/html',
      schema: { type: 'string' },
      example: '<!doctype html>',
      headers: ETAG,
    },
    NOT_MODIFIED,
  ],
};

export const metaOperations: readonly OperationSpec[] = [
  {
    ...PUBLIC,
    id: 'readDescriptionAsJson',
    method: 'get',
    path: '/openapi.json',
    bucket: 'read',
    summary: 'This description as JSON',
    description: 'Supports If-None-Match.',
    success: [
      {
        status: 200,
        description: 'OpenAPI 3.1.0.',
        mediaType: 'application/json',
        schema: { type: 'object' },
        example: { openapi: '3.1.0' },
        headers: ETAG,
      },
      NOT_MODIFIED,
    ],
  },
  {
    ...PUBLIC,
    id: 'readDescriptionAsYaml',
    method: 'get',
    path: '/openapi.yaml',
    bucket: 'read',
    summary: 'This description as YAML',
    description: 'Supports If-None-Match.',
    success: [
      {
        status: 200,
        description: 'OpenAPI 3.1.0.',
        mediaType: 'application/yaml',
        schema: { description: 'The document of `/openapi.json`, written as YAML.' },
        example: 'openapi: 3.1.0',
        headers: ETAG,
      },
      NOT_MODIFIED,
    ],
  },
  {
    ...PUBLIC,
    id: 'readReleasedDescription',
    method: 'get',
    path: '/openapi/{version}.json',
    bucket: 'read',
    summary: 'The description of a version, as JSON',
    description:
      'Each published version as it was, with the addresses of this service; for comparing and for clients made from it. Supports If-None-Match.',
    parameters: ['DescriptionVersion'],
    success: [
      {
        status: 200,
        description: 'OpenAPI 3.1.0.',
        mediaType: 'application/json',
        schema: { type: 'object' },
        example: { openapi: '3.1.0' },
        headers: ETAG,
      },
      NOT_MODIFIED,
    ],
    errors: ['not_found'],
  },
  {
    ...PUBLIC,
    id: 'readTopicsAsJson',
    method: 'get',
    path: '/asyncapi.json',
    bucket: 'read',
    summary: 'The topics of events and decisions as JSON',
    description: 'What travels between the service and the other systems of a fund. Supports If-None-Match.',
    success: [
      {
        status: 200,
        description: 'AsyncAPI 3.0.0.',
        mediaType: 'application/json',
        schema: { type: 'object' },
        example: { asyncapi: '3.0.0' },
        headers: ETAG,
      },
      NOT_MODIFIED,
    ],
  },
  {
    ...PUBLIC,
    id: 'readTopicsAsYaml',
    method: 'get',
    path: '/asyncapi.yaml',
    bucket: 'read',
    summary: 'The topics of events and decisions as YAML',
    description: 'The document of `/asyncapi.json`, written as YAML. Supports If-None-Match.',
    success: [
      {
        status: 200,
        description: 'AsyncAPI 3.0.0.',
        mediaType: 'application/yaml',
        schema: { description: 'The document of `/asyncapi.json`, written as YAML.' },
        example: 'asyncapi: 3.0.0',
        headers: ETAG,
      },
      NOT_MODIFIED,
    ],
  },
  REFERENCE,
  { ...REFERENCE, id: 'readRoot', path: '/', summary: 'The same page, at the bare address' },
  {
    ...PUBLIC,
    id: 'readReferenceAsset',
    method: 'get',
    path: '/docs/{asset}',
    bucket: 'read',
    summary: 'A file of the reference',
    description:
      'Scripts and styles of the page. Their names change with their content, so they may be kept.',
    parameters: ['DocsAsset'],
    success: [
      {
        status: 200,
        description: 'The file.',
        mediaType: 'text/javascript',
        otherMediaTypes: ['text/css'],
        schema: { type: 'string' },
        example: "'use strict';",
        headers: ETAG,
      },
      NOT_MODIFIED,
    ],
    errors: ['not_found'],
  },
  {
    ...PUBLIC,
    id: 'readKeySet',
    method: 'get',
    path: '/.well-known/jwks.json',
    bucket: 'read',
    summary: 'Public keys of the access tokens',
    description: 'A JSON Web Key Set for those who want to check tokens themselves.',
    success: [
      json(200, 'Every key whose tokens may still be valid.', 'KeySet', { keys: [{ kty: 'EC', kid: '1' }] }),
    ],
  },
  {
    ...PUBLIC,
    id: 'readLiveness',
    method: 'get',
    path: '/health/live',
    bucket: null,
    summary: 'Whether the process runs',
    description: 'Says nothing about stores; restart the process when it fails.',
    success: [json(200, 'It runs.', 'Health', { status: 'ok' })],
  },
  {
    ...PUBLIC,
    id: 'readReadiness',
    method: 'get',
    path: '/health/ready',
    bucket: null,
    summary: 'Whether requests can be served',
    description:
      'Send traffic only while this answers 200. The message of a 503 names what fails; the log of the service says why.',
    success: [json(200, 'Ready.', 'Health', { status: 'ok', checks: { event_store: 'ok' } })],
  },
];
