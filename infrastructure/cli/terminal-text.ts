/** What moves a cursor, colours, deletes or turns around what stands beside it: control characters and marks of direction. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text that a terminal only shows. In JSON the escapes stand for the same characters. */
export const shownOnly = (text: string): string => text.replace(CONTROLS, escaped);

/** The same for a value that stands in one line among others, which it must not be able to imitate. */
export const inOneLine = (text: string): string => shownOnly(text).replace(/[\n\t]/g, escaped);
