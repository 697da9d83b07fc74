const ITEMS_IN_A_PIECE = 32;

/** `JSON.stringify` of a value that can be written, cut where a list directly below an object is long. */
export const textPieces = function* (value: unknown): Generator<string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = '{';
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    if (Array.isArray(field) && field.length > ITEMS_IN_A_PIECE) yield* listPieces(field);
    else yield JSON.stringify(field);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
};

const listPieces = function* (list: readonly unknown[]): Generator<string> {
  for (let at = 0; at < list.length; at += ITEMS_IN_A_PIECE) {
    const items = JSON.stringify(list.slice(at, at + ITEMS_IN_A_PIECE)).slice(1, -1);
    yield `${at === 0 ? '[' : ','}${items}`;
  }
  yield ']';
};
