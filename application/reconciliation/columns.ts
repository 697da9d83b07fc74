const BLOCK_BITS = 16;
const BLOCK = 1 << BLOCK_BITS;
const WITHIN = BLOCK - 1;

type Block = Int32Array | Float64Array;

/**
 * Numbers in blocks that never move: a plain array of a million would hold twice the memory, and three times while it grows.
 */
export class Column {
  readonly #make: () => Block;
  readonly #blocks: Block[] = [];
  #count = 0;

  private constructor(make: () => Block) {
    this.#make = make;
  }

  /** For numbers of 32 bits with a sign. */
  static small(): Column {
    return new Column(() => new Int32Array(BLOCK));
  }

  /** For amounts. */
  static large(): Column {
    return new Column(() => new Float64Array(BLOCK));
  }

  get count(): number {
    return this.#count;
  }

  /** Answers the index of the new one. */
  push(value: number): number {
    const index = this.#count++;
    if ((index & WITHIN) === 0) this.#blocks.push(this.#make());
    this.set(index, value);
    return index;
  }

  set(index: number, value: number): void {
    this.#blocks[index >> BLOCK_BITS]![index & WITHIN] = value;
  }

  at(index: number): number {
    return this.#blocks[index >> BLOCK_BITS]![index & WITHIN]!;
  }
}

/** Names by number: schedules name their installments alike, so there are few. */
export class Names {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) this.#numbers.set(name, (number = this.#names.push(name) - 1));
    return number;
  }

  name(number: number): string {
    return this.#names[number]!;
  }
}

const NO_NAME = -1;

/** Names, or null. */
export class NameColumn {
  readonly #names: Names;
  readonly #numbers = Column.small();

  constructor(names: Names) {
    this.#names = names;
  }

  push(name: string | null): void {
    this.#numbers.push(name === null ? NO_NAME : this.#names.numberOf(name));
  }

  set(index: number, name: string | null): void {
    this.#numbers.set(index, name === null ? NO_NAME : this.#names.numberOf(name));
  }

  at(index: number): string | null {
    const number = this.#numbers.at(index);
    return number === NO_NAME ? null : this.#names.name(number);
  }
}
