export interface Redelivery {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Number that the repeated attempt will carry. */
  readonly attempt: number;
}
