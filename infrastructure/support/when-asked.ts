/** Made when first asked for, and kept. What failed is made again for whoever asks next. */
export const whenAsked = <Made>(make: () => Promise<Made>): (() => Promise<Made>) => {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};

type Makers<Members> = { readonly [Name in keyof Members]: () => Members[Name] };

/** An object whose members are each made when first asked for, and kept. */
export const lazily = <Members extends object>(makers: Makers<Members>): Members => {
  const made = {};
  for (const [name, make] of Object.entries<() => unknown>(makers)) {
    let member: unknown;
    Object.defineProperty(made, name, {
      enumerable: true,
      configurable: true,
      get: () => (member ??= make()),
    });
  }
  return made as Members;
};
