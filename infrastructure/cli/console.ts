export interface OpenConsole {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** As it was given. */
  readonly operator?: string;
  readonly readOnly: boolean;
  readonly idleMs: number;
}

export interface RunningConsole {
  /**
   * An address that opens the console once; the one before it opens nothing any more. `used` is called when it has. Where people sign in
   * it is always the same.
   */
  newAddress(used?: () => void): string;
  close(): Promise<void>;
}
