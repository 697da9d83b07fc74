/** What keeps a file from being a PDF that can be read. */
export type PdfFlaw = 'unreadable' | 'password' | 'too_costly';
export type PdfVerdict = 'readable' | PdfFlaw;

/** First line of the parser's process: it has read its code. */
export const READY = 'ready';
