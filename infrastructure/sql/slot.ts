/** Every table of a read model exists twice: one copy serves, the other waits, is being built, or is kept for a while. */
export type Slot = 'a' | 'b';
