type Canonical =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Canonical[]
  | { readonly [field: string]: Canonical };

/** JSON text with sorted fields and without absent ones: equal contents give equal texts, whatever order they came in. */
export const canonicalText = (value: Canonical): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value as { readonly [field: string]: Canonical })
    .filter(([, v]) => v !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, v]) => `${JSON.stringify(name)}:${canonicalText(v)}`).join(',')}}`;
};
