import type { ApplicationModel } from './model/application-model.ts';
import type { Book } from './model/book.ts';

/** Apart from what becomes of it later. */
const asItStands = (book: Book): Book => ({
  ...book,
  parts: book.parts.map((part) => ({ ...part })),
  ...(book.repurchase && { repurchase: { ...book.repurchase } }),
});

/** What has been posted by now, for those who ask later what was known then. */
export const knownAt = ({ books }: ApplicationModel, at: string) => ({
  at,
  books: new Map([...books].map(([code, book]) => [code, asItStands(book)])),
});
