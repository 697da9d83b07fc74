import { PAGE_POLICY } from '../docs/reference-page.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { ETAG } from '../openapi/components/headers.ts';
import { endpoint } from './endpoint.ts';

const PUBLIC = { tag: 'Service', access: 'public', errors: [] } as const;
const NOT_MODIFIED = {
  status: 304,
  description: 'The copy that If-None-Match names is current.',
  headers: ETAG,
};
const REVALIDATE = ['Cache-Control', 'no-cache'];
/** The name of a file changes with its content. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable'];

export const readReference = endpoint({
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
  handler: ({ reference: { page } }) => ({
    run: async ({ req }) => ({
      ...(await page.replyTo(req, REVALIDATE)),
      contentSecurityPolicy: PAGE_POLICY,
    }),
  }),
});

/** The addresses of the page are relative, so it works there as well. */
export const readRoot = endpoint({
  ...readReference,
  id: 'readRoot',
  path: '/',
  summary: 'The same page, at the bare address',
});

export const readReferenceAsset = endpoint({
  ...PUBLIC,
  id: 'readReferenceAsset',
  method: 'get',
  path: '/docs/{asset}',
  bucket: 'read',
  summary: 'A file of the reference',
  description:
    'Scripts and styles of the page and of the guides. Their names change with their content, so they may be kept.',
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
  handler: ({ reference, guides }) => {
    const files = new Map([...reference.assets, [guides.stylesheetName, guides.stylesheet]]);
    return {
      run: async ({ req, params }) => {
        const asset = files.get(params['asset'] ?? '');
        if (asset) return asset.replyTo(req, FOREVER);
        throw new HttpProblem('not_found', 'the reference has no such file');
      },
    };
  },
});
