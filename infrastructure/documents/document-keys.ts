import type { DocumentKey } from './sealed-content.ts';

/** Where the keys come from that documents are sealed with. */
export interface DocumentKeys {
  /** The operation's key, made when there was none. */
  key(stream: string): Promise<DocumentKey>;
  find(stream: string): Promise<DocumentKey | undefined>;
}
