import { eventExample } from '../../../application/publication/description/event-schemas.ts';
import type { LoanEventName } from '../../../application/publication/catalogue.ts';
import type { FeedPage, FeedQuery } from '../../../application/publication/feed.ts';
import { component, nullable, object, ref, text } from '../../../application/schemas/schema.ts';
import { json } from '../openapi/operation.ts';
import { API_VERSION } from '../openapi/version.ts';
import type { Reply } from '../operation.ts';
import type { Query } from '../requests/parameters.ts';
import { endpoint } from '../operation.ts';
import { EXAMPLE_EVENT_ID } from './webhook.ts';

const EventPage = component(
  'EventPage',
  object({
    data: {
      type: 'array',
      description:
        'Bodies as webhooks post them, byte for byte, oldest first; the section `webhooks` has them one by one.',
      items: ref('EventEnvelope'),
    },
    next_after: nullable(
      text({
        description:
          'Send it as `after` to go on from here, now or later. It passes the events that your filters kept back. null while there is none to go on from.',
      }),
    ),
    has_more: {
      type: 'boolean',
      description: 'Whether more comes after this page; it may be short, or empty, and still have more.',
    },
  }),
);

const queryOf = (query: Query): FeedQuery => ({
  ...(query['after'] !== undefined && { after: String(query['after']).toLowerCase() }),
  limit: Number(query['limit']),
  ...(query['event'] !== undefined && { names: query['event'] as readonly LoanEventName[] }),
  ...(query['fund_id'] !== undefined && { fundId: String(query['fund_id']).toLowerCase() }),
  ...(query['originator_proposal_code'] !== undefined && { code: String(query['originator_proposal_code']) }),
});

/** The bodies stand in the answer as they are: read and written again they would lose the decimals of their amounts. */
const pageReply = ({ events, nextAfter, hasMore }: FeedPage): Reply => {
  const bodies = events.map(({ body }) => body).join();
  const rest = JSON.stringify({ next_after: nextAfter, has_more: hasMore }).slice(1);
  return { status: 200, bytes: Buffer.from(`{"data":[${bodies}],${rest}`) };
};

export const listEvents = endpoint({
  id: 'listEvents',
  request: 'GET /event',
  access: 'events',
  summary: 'Read the events of the application',
  description:
    'Every event that there ever was, in the order in which they were recorded, with or without a webhook; pings are none. ' +
    'Keep `next_after` with what you did about the page, and ask from there: nothing is left out, whatever is written meanwhile. ' +
    'A page with filters may be short, or empty; only `has_more` says whether to go on.',
  parameters: ['FeedAfter', 'Limit', 'FeedEvents', 'FeedFund', 'FeedCode'],
  success: [
    json(200, 'One page.', EventPage, {
      data: [eventExample('loan_received', API_VERSION)],
      next_after: EXAMPLE_EVENT_ID,
      has_more: false,
    }),
  ],
  errors: ['invalid_query_parameter'],
  answer: async ({ publication }, context, { query }) =>
    pageReply(await publication.feed.page(context, queryOf(query))),
});
