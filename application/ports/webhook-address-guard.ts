/** Decides which addresses webhooks may be sent to. Used at registration; the sender applies the same rules to every connection. */
export interface WebhookAddressGuard {
  /**
   * Takes an `https` address without user information and fragment whose host is not plainly unreachable from the public
   * internet. Judged by the text alone: what a name stands for is found out, and checked, at every sending.
   * @throws DomainError `invalid_webhook_url` saying what is wrong
   */
  check(url: string): void;
}
