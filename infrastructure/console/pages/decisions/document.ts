import type { Desk } from '../../../../application/desk-view/desk.ts';
import { PDF, begun } from '../../../support/stored-files.ts';
import type { Answer, Visit } from '../../page.ts';

export const documentPath = (applicationId: string, code: string, documentId: string): string =>
  `/documents/${[applicationId, code, documentId].map(encodeURIComponent).join('/')}`;

/** A document of an operation: a PDF is shown, anything else is saved. */
export const documentOf = async ({ params }: Visit, { loans }: Desk): Promise<Answer> => {
  const { application: applicationId = '', code = '', document = '' } = params;
  const { name, pieces } = await loans.document({ applicationId }, code, document);
  const { mediaType, pieces: content } = await begun(pieces);
  return { kind: 'file', name, mediaType, inline: mediaType === PDF, content };
};
