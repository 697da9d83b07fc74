/** The only values that cross the thread boundary: flat lists of them are cheap to clone, nested objects are not. */
export type Cell = string | number | null;
export type Cells = readonly Cell[];

/** What the main thread sends. The requests of a batch are answered by one message, in their order. */
export type ToThread =
  { readonly kind: 'batch'; readonly requests: readonly Cells[] } | { readonly kind: 'close' };

/** What the database thread sends: `ready` once, or `failed` and the thread ends. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'replies'; readonly replies: readonly Cells[] };

export const textCell = (cells: Cells, index: number): string => {
  const cell = cells[index];
  if (typeof cell !== 'string') throw new TypeError(`cell ${index} is not a text`);
  return cell;
};

export const numberCell = (cells: Cells, index: number): number => {
  const cell = cells[index];
  if (typeof cell !== 'number') throw new TypeError(`cell ${index} is not a number`);
  return cell;
};

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
