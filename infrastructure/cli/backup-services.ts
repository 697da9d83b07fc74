export interface BackupSummary {
  readonly program_version: string;
  readonly begun_at: string;
  readonly log: { readonly position: number; readonly events: number; readonly streams: number };
  readonly master_key_contained: boolean;
  readonly files: readonly { readonly size: number }[];
}

export type OnStep = (done: number, total: number) => void;

/** Works on files alone: nothing of the service is opened. */
export interface BackupServices {
  write(request: {
    readonly to: string;
    readonly withKey: boolean;
    readonly onStep: OnStep;
  }): Promise<BackupSummary>;
  restore(request: {
    readonly from: string;
    readonly dataDir: string;
    readonly onStep: OnStep;
  }): Promise<BackupSummary>;
}
