import type { Page } from 'playwright-core';
import type { Book } from '../lives/model/book.ts';

/** Each text with how often it comes. */
export const tally = (texts: readonly string[]): readonly string[] =>
  [...Map.groupBy(texts, (text) => text)].map(([text, all]) => `${text}: ${all.length}`).toSorted();

/** How many operations each borrower has, all who were forgotten together. */
export const borrowersOf = (some: readonly Book[]): readonly string[] =>
  [...Map.groupBy(some, ({ person, forgotten }) => (forgotten ? '' : person.document))]
    .map(([document, { length }]) =>
      document === ''
        ? `erased borrowers: ${length}`
        : `${'*'.repeat(document.length - 2)}${document.slice(-2)}: ${length}`,
    )
    .toSorted();

/** Two columns of a table of a section, but for lines of what only the other day held. */
export const cells = async (page: Page, title: string, [name, value]: readonly [number, number]) => {
  const rows = await page.locator(`section[aria-labelledby="${title}"] tbody tr`).all();
  const texts = await Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
  return texts.filter((one) => one[value] !== '0').map((one) => `${one[name]}: ${one[value]}`);
};

/** How many lines those are. */
export const distinct = (some: readonly Book[]): number => borrowersOf(some).length;
