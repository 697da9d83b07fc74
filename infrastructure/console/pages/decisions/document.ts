import type { Answer, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

export const documentPath = (applicationId: string, code: string, documentId: string): string =>
  `/documents/${[applicationId, code, documentId].map(encodeURIComponent).join('/')}`;

/** A document of an operation: a PDF is shown, anything else is saved. What it is, its first bytes say, not its name. */
export const documentOf = async ({ params }: Visit, { operations }: ConsoleServices): Promise<Answer> => {
  const { application = '', code = '', document = '' } = params;
  const { name, pieces } = await operations.document(application, code, document);
  const iterator = pieces[Symbol.asyncIterator]();
  // Read before anything is answered, so that a content that cannot be read is answered as such.
  const first = await iterator.next();
  const isPdf = !first.done && Buffer.from(first.value.subarray(0, 5)).toString('latin1') === '%PDF-';
  const content = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (let step = first; !step.done; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  };
  return {
    kind: 'file',
    name,
    mediaType: isPdf ? 'application/pdf' : DOCX,
    inline: isPdf,
    content: content(),
  };
};
