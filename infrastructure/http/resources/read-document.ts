import { OverShareError } from '../../../application/ports/busy-error.ts';
import { isProposalCode } from '../../../application/schemas/values.ts';
import { DOCX, PDF, begun, disposition } from '../../support/stored-files.ts';
import { isMatched } from '../docs/served-content.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { ATTACHMENT, ETAG } from '../openapi/components/headers.ts';
import { Slots } from '../limits/slots.ts';
import type { SlotBounds } from '../limits/slots.ts';
import { endpoint, forClient } from '../operation.ts';

const MOST_AT_ONCE = 32;

/** Documents on their way at once: each may hold an open file for as long as its reader is slow. None waits for another. */
const BOUNDS: SlotBounds = {
  application: { places: MOST_AT_ONCE, weight: Infinity },
  process: { places: Infinity, weight: Infinity },
  waiting: 0,
  waitMs: 0,
  leastWeight: 0,
  mostWeight: 0,
  refused: () =>
    new OverShareError(`at most ${MOST_AT_ONCE} documents of an application are sent at once`, 1),
};

const nobodyWaits = (): AbortSignal => new AbortController().signal;

export const readDocument = endpoint({
  id: 'readDocument',
  request: 'GET /loan/{originator_proposal_code}/documents/{document_id}',
  summary: 'Read a document',
  description:
    'The stored file, byte for byte, under its name. Nothing is left of it once the borrower is forgotten. Supports If-None-Match.',
  access: 'loans:read',
  parameters: ['ProposalCode', 'DocumentId'],
  success: [
    {
      status: 200,
      description: 'The content.',
      mediaType: PDF,
      otherMediaTypes: [DOCX],
      schema: { type: 'string', format: 'binary' },
      example: '(content of the file)',
      headers: { ...ATTACHMENT, ...ETAG },
    },
    { status: 304, description: 'What you have is what is stored.', headers: ETAG },
  ],
  errors: ['loan_not_found', 'document_not_found'],
  handler: ({ app: { loans } }) => {
    const downloads = new Slots(BOUNDS);
    return forClient(async (context, { params, req }) => {
      const { originator_proposal_code: code = '', document_id: id = '' } = params;
      if (!isProposalCode(code))
        throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
      const slot = await downloads.enter(context.applicationId, 0, nobodyWaits);
      try {
        const { name, sha256, size, pieces } = await loans.document(context, code, id.toLowerCase());
        const etag = `"${sha256}"`;
        if (isMatched(req.headers['if-none-match'], etag)) {
          await pieces[Symbol.asyncIterator]().return?.();
          slot.leave();
          return { status: 304, headers: ['ETag', etag] };
        }
        const content = await begun(pieces, slot.leave);
        return {
          status: 200,
          content: { size, pieces: content.pieces },
          mediaType: content.mediaType,
          headers: ['Content-Disposition', disposition('attachment', name), 'ETag', etag],
        };
      } catch (error) {
        slot.leave();
        throw error;
      }
    });
  },
});
