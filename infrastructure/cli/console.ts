export interface OpenConsole {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly operator: string;
  readonly readOnly: boolean;
  readonly idleMs: number;
}

export interface RunningConsole {
  /** An address that opens the console once; the one before it opens nothing any more. `used` is called when it has. */
  newAddress(used?: () => void): string;
  close(): Promise<void>;
}
