import { GUIDE_POLICY } from '../docs/guides/guides.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { endpoint } from './endpoint.ts';
import { PAGE, PUBLIC, REVALIDATE, served } from './served.ts';

const SUCCESS = served({ ...PAGE, description: 'The page.' });
const contentSecurityPolicy = GUIDE_POLICY;

export const readGuides = endpoint({
  ...PUBLIC,
  id: 'readGuides',
  path: '/docs/guides',
  summary: 'All guides',
  description: 'What there is to read beside the reference, as a page for people.',
  success: SUCCESS,
  handler: ({ guides: { list } }) => ({
    run: async ({ req }) => ({ ...(await list.replyTo(req, REVALIDATE)), contentSecurityPolicy }),
  }),
});

export const readGuide = endpoint({
  ...PUBLIC,
  id: 'readGuide',
  path: '/docs/guides/{guide}',
  summary: 'A guide',
  description: 'One of them as a page for people, such as `integrators-guide`, `lifecycle` or `going-live`.',
  parameters: ['Guide'],
  success: SUCCESS,
  errors: ['not_found'],
  handler: ({ guides }) => ({
    run: async ({ req, params }) => {
      const page = await guides.page(params['guide'] ?? '');
      if (page) return { ...(await page.replyTo(req, REVALIDATE)), contentSecurityPolicy };
      throw new HttpProblem('not_found', 'there is no such guide; /docs/guides lists all of them');
    },
  }),
});

export const searchGuides = endpoint({
  ...PUBLIC,
  id: 'searchGuides',
  path: '/docs/search',
  summary: 'Search the guides',
  description:
    'The sections of all guides that explain these words, the best first, with the passage, as a page for people. At most 20.',
  parameters: ['GuideQuestion'],
  success: [{ status: 200, ...PAGE, description: 'What was found, which may be nothing.' }],
  errors: ['invalid_query_parameter'],
  handler: ({ guides }) => ({
    run: async ({ query }) => ({
      status: 200,
      bytes: await guides.answer(String(query['q'] ?? '')),
      mediaType: 'text/html; charset=utf-8',
      contentSecurityPolicy,
    }),
  }),
});
