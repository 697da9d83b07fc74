/** The same object with some of its methods replaced; everything else goes to the original, private fields and all. */
export const overriding = <Target extends object>(target: Target, methods: Partial<Target>): Target =>
  new Proxy(target, {
    get: (original, name) => {
      if (Object.hasOwn(methods, name)) return methods[name as keyof Target];
      const value: unknown = Reflect.get(original, name, original);
      return typeof value === 'function' ? (value.bind(original) as unknown) : value;
    },
  });
