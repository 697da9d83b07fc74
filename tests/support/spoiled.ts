/** A sound one with some of its methods replaced. */
export const spoiled = <Port extends object>(sound: Port, replaced: Partial<Port> = {}): Port =>
  new Proxy(sound, {
    get: (target, name) => {
      const value: unknown = Reflect.get(name in replaced ? replaced : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
