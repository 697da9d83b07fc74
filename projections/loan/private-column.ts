import type { PrivateText } from '../../domain/shared/private-text.ts';

/** A column's text for what may name a person: JSON of the plain text or of the sealed one. Empty once it was forgotten. */
export const privateColumn = (text: PrivateText): string =>
  JSON.stringify(typeof text === 'string' ? text : { sealed: text.sealed });

export const FORGOTTEN_COLUMN = '';
