export interface ConsumerTables {
  readonly consumer_offset: {
    consumer_group: string;
    topic: string;
    partition: number;
    next_offset: number;
    updated_at: string;
  };
  /** One row an operation; `event_ids` is a JSON list. */
  readonly consumer_mark: {
    consumer_group: string;
    operation: string;
    sequence: number;
    event_ids: string;
  };
}
