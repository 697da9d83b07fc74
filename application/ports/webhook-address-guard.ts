/** Decides which addresses webhooks may be sent to. Used at registration; the sender applies the same rules to every connection. */
export interface WebhookAddressGuard {
  /**
   * Resolves for an `https` address without user information and fragment whose host is not known to be unreachable from the
   * public internet. A name that does not resolve now passes: it is checked again at every sending.
   * @throws DomainError `invalid_webhook_url` saying what is wrong
   */
  check(url: string): Promise<void>;
}
