import type { SqlDatabase } from './sql-database.ts';

/** Where the tables of generations lie, and how they are opened. */
export interface GenerationTables {
  /** With tables as this program has them, made if need be. */
  open(number: number): Promise<SqlDatabase>;
  exists(number: number): Promise<boolean>;
  /** Whoever has it open goes on reading what it had, or is told that it is gone. */
  drop(number: number): Promise<void>;
  /** Reads the tables of both, each by the name of its schema. */
  openPair(one: number, other: number): Promise<SqlDatabase>;
  schemaOf(number: number): string;
}

/** Under names of their own: what versions up to 2026.11.1 wrote. */
export const BEFORE_GENERATIONS = 0;
