export interface AnchorSignature {
  /** base64url of its SPKI form. */
  readonly publicKey: string;
  /** base64url. */
  readonly signature: string;
}

/** Signs what is kept elsewhere, so that it can be told later that this service wrote it. */
export interface AnchorSigner {
  sign(text: string): Promise<AnchorSignature>;
  /** Whether this service signed this text. */
  isGenuine(text: string, signature: AnchorSignature): Promise<boolean>;
}
