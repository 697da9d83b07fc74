export interface RotationResult {
  /** Ids of master keys. */
  readonly from: string;
  readonly to: string;
  /** Texts that this run wrapped anew. */
  readonly rewrapped: number;
  /** Texts that an earlier run wrapped anew. */
  readonly already: number;
}

/** The master keys that this process was given do not allow the rotation. */
export class RotationRefusedError extends Error {
  override readonly name = 'RotationRefusedError';
}
