/** Makes and seals signing secrets. `context` binds the sealed text to its owner: opened with another one, it fails. */
export interface Sealer {
  seal(text: string, context: string): string | Promise<string>;
  /** @throws Error when the text was sealed for another context or tampered with */
  open(sealed: string, context: string): string;
}

/** Random values; unpredictable. */
export interface RandomSource {
  /** UUID */
  id(): string;
  /** A fresh signing secret of at least 256 bits, printable. */
  secret(): string;
}

/** What a signing secret is sealed for. */
export const secretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;
