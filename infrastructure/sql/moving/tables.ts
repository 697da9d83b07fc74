export interface MovingTables {
  /** Of a move into this database: what it is (`move`), and how far each part of it has come. */
  readonly move_progress: { name: string; value: string };
}
