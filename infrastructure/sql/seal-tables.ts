export interface SealTables {
  readonly log_seal: {
    number: number;
    kind: string;
    log: string;
    through: string;
    events: number;
    total: number;
    digest: string;
    sealed_at: string;
    mac: string;
  };
  /** One row. */
  readonly log_seal_head: { id: number; number: number; mac: string; proof: string };
}
