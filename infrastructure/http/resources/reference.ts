import { PAGE_POLICY } from '../docs/reference-page.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { endpoint } from './endpoint.ts';
import { PAGE, PUBLIC, REVALIDATE, served } from './served.ts';

/** The name of a file changes with its content. */
const FOREVER = ['Cache-Control', 'public, max-age=31536000, immutable'];

export const readReference = endpoint({
  ...PUBLIC,
  id: 'readReference',
  path: '/docs',
  summary: 'Interactive reference',
  description:
    'This description as a page for people, with requests to try. Everything it needs is served here.',
  success: served({ description: 'The page.', ...PAGE }),
  handler: ({ reference }) => ({
    run: async ({ req }) => ({
      ...(await (await reference()).page.replyTo(req, REVALIDATE)),
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
  path: '/docs/{asset}',
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
  handler: ({ reference, guides }) => ({
    run: async ({ req, params }) => {
      const name = params['asset'] ?? '';
      const isOfGuides = name === guides.stylesheetName;
      const asset = isOfGuides ? guides.stylesheet : (await reference()).assets.get(name);
      if (asset) return asset.replyTo(req, FOREVER);
      throw new HttpProblem('not_found', 'the reference has no such file');
    },
  }),
});
