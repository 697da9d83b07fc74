/** How appends and their answers cross the thread boundary: flat lists of primitives are cheap to clone, nested objects are not. */
export type Cell = string | number | null;
export type Cells = readonly Cell[];

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
