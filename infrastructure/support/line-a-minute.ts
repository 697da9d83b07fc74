const MINUTE_MS = 60_000;

interface Open {
  count: number;
  fields: object;
}

/** Keeps a flood to a line a minute for each kind: the first at once, then how many came since, with the fields of the last. */
export class LineAMinute {
  readonly #write: (fields: object, kind: string) => void;
  readonly #open = new Map<string, Open>();

  constructor(write: (fields: object, kind: string) => void) {
    this.#write = write;
  }

  /** @param kind one of few: each is remembered for a minute */
  note(kind: string, fields: object): void {
    const open = this.#open.get(kind);
    if (open) {
      open.count += 1;
      open.fields = fields;
      return;
    }
    this.#write({ ...fields, count: 1 }, kind);
    this.#begin(kind);
  }

  #begin(kind: string): void {
    const open: Open = { count: 0, fields: {} };
    this.#open.set(kind, open);
    setTimeout(() => {
      this.#open.delete(kind);
      if (open.count === 0) return;
      this.#write({ ...open.fields, count: open.count }, kind);
      this.#begin(kind);
    }, MINUTE_MS).unref();
  }
}
