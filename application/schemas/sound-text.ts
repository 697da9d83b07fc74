/** Text that every engine can store and give back as it was: well-formed Unicode without NUL. */
export const isSoundText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
