/** year.month.patch; rises with every change of the interface. `docs/changelog.md` says what changed. */
export const API_VERSION = '2026.11.5';
