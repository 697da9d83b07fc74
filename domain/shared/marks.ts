/** What cannot be seen, or turns the direction of what is read beside it: control characters and marks of direction. In brackets of a regular expression. */
export const UNSEEN_MARKS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069';
