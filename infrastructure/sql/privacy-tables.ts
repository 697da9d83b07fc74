export interface PrivacyTables {
  /** A keyed digest of a borrower's document, and an operation of that borrower. */
  readonly borrower_operation: { digest: string; stream: string };
}
