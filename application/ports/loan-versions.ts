/** How far the rows of operations are: the revision, within its stream, of the last event that each of them shows. */
export interface LoanVersions {
  /** One entry a stream that has a row. */
  of(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>>;
}
