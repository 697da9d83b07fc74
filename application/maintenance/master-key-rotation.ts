export interface RotationResult {
  readonly from: string;
  readonly to: string;
  readonly rewrapped: number;
  readonly already: number;
}

export class RotationRefusedError extends Error {
  override readonly name = 'RotationRefusedError';
}
