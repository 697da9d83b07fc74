import { LRUCache } from 'lru-cache';
import type { Column } from './values.ts';

/** Of one connection: the server keeps a plan for each, so there must not be more and more of them. */
const KEPT = 400;

export interface PreparedStatement {
  readonly name: string;
  /** What it answers; empty for no rows, and until the server has described it. */
  columns: readonly Column[];
}

/** The statements that one connection has parsed, by their text. */
export class PreparedStatements {
  readonly #dropped: string[] = [];
  readonly #known: LRUCache<string, PreparedStatement>;
  #names = 0;

  constructor(kept = KEPT) {
    this.#known = new LRUCache({ max: kept, dispose: ({ name }) => this.#dropped.push(name) });
  }

  find(text: string): PreparedStatement | undefined {
    return this.#known.get(text);
  }

  add(text: string): PreparedStatement {
    const statement = { name: `s${++this.#names}`, columns: [] };
    this.#known.set(text, statement);
    return statement;
  }

  /** Of no use: nobody knows how far the server came with it. */
  drop(text: string): void {
    this.#known.delete(text);
  }

  /** Names that the server may forget. To be closed at the begin of a batch, when nothing sent needs them any more. */
  takeDropped(): readonly string[] {
    return this.#dropped.splice(0);
  }
}
