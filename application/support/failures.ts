/** What it says of itself. A connection that no address of a name took says nothing, and has a code alone. */
export const messageOf = (error: unknown): string =>
  error instanceof Error
    ? error.message || ((error as { readonly code?: string }).code ?? error.name)
    : String(error);
