import { OverShareError } from '../../../application/ports/busy-error.ts';
import { isProposalCode } from '../../../application/schemas/values.ts';
import { DOCX, PDF, begun, disposition } from '../../support/stored-files.ts';
import { isMatched } from '../docs/served-content.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { ATTACHMENT, ETAG } from '../openapi/components/headers.ts';
import { forClient } from '../operation.ts';
import type { Handler } from '../operation.ts';
import { endpoint } from './endpoint.ts';
import type { Serving } from './endpoint.ts';

/** Documents of one application that are on their way at once: each may hold an open file for as long as its reader is slow. */
const MOST_AT_ONCE = 32;

class Downloads {
  readonly #open = new Map<string, number>();

  /** @throws OverShareError */
  enter(applicationId: string): void {
    const open = this.#open.get(applicationId) ?? 0;
    if (open >= MOST_AT_ONCE) {
      throw new OverShareError(`at most ${MOST_AT_ONCE} documents of an application are sent at once`, 1);
    }
    this.#open.set(applicationId, open + 1);
  }

  leave(applicationId: string): void {
    const open = (this.#open.get(applicationId) ?? 1) - 1;
    if (open === 0) this.#open.delete(applicationId);
    else this.#open.set(applicationId, open);
  }
}

const handler = ({ app: { loans } }: Serving): Handler => {
  const downloads = new Downloads();
  return {
    run: forClient(async (context, { params, req }) => {
      const { originator_proposal_code: code = '', document_id: id = '' } = params;
      if (!isProposalCode(code))
        throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
      downloads.enter(context.applicationId);
      const leave = (): void => downloads.leave(context.applicationId);
      try {
        const { name, sha256, size, pieces } = await loans.document(context, code, id.toLowerCase());
        const etag = `"${sha256}"`;
        if (isMatched(req.headers['if-none-match'], etag)) {
          await pieces[Symbol.asyncIterator]().return?.();
          leave();
          return { status: 304, headers: ['ETag', etag] };
        }
        const content = await begun(pieces, leave);
        return {
          status: 200,
          content: { size, pieces: content.pieces },
          mediaType: content.mediaType,
          headers: ['Content-Disposition', disposition('attachment', name), 'ETag', etag],
        };
      } catch (error) {
        leave();
        throw error;
      }
    }),
  };
};

export const readDocument = endpoint({
  id: 'readDocument',
  method: 'get',
  path: '/loan/{originator_proposal_code}/documents/{document_id}',
  tag: 'Loans',
  summary: 'Read a document',
  description:
    'The stored file, byte for byte, under its name. Nothing is left of it once the borrower is forgotten. Supports If-None-Match.',
  access: 'loans:read',
  bucket: 'read',
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
  handler,
});
