/** How far the business time of a sandbox is ahead of the real time, in milliseconds; one number for all processes. */
export interface ClockOffset {
  /** 0 before the first move. */
  read(): Promise<number>;
  /** Durable when it resolves to true; false when the offset is not `from` any more, and nothing changed. */
  replace(from: number, to: number): Promise<boolean>;
}
