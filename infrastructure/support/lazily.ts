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
