/** In which formats the stores are written: they follow the oldest release that may still be at work on them. */
export interface StoredFormats {
  /**
   * True while processes of release 2026.11.1 may run beside this one: until they have ended, nothing is written that they cannot
   * read, or would read as something else.
   */
  forEarlierRelease(): Promise<boolean>;
  /** None of them runs any more, and none will. For good. */
  leaveEarlierRelease(): Promise<void>;
}
