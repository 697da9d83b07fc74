import { PAGE_POLICY } from '../docs/reference-page.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { endpoint } from '../operation.ts';
import { REVALIDATE, served } from '../docs/served-content.ts';
import { GUIDE_POLICY } from '../docs/guides/guides.ts';

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
