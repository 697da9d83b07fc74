export interface CoordinationTables {
  /** `until_ms` by the engine's clock; 0 once it was given back. */
  readonly lease: { name: string; holder: string; token: number; until_ms: number };

  readonly rate_bucket: {
    key: string;
    /** As of `at_ms`, fractions included. */
    tokens: number;
    /** By the engine's clock. */
    at_ms: number;
    burst: number;
    per_minute: number;
    /** Of the last statement: how many tokens it wanted, and how many it got. */
    asked: number;
    granted: number;
  };

  /** At most one row: how far the business time of a sandbox is ahead of the real time. */
  readonly clock_offset: { id: string; offset_ms: number; moved_at: string };
}
