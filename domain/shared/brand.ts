declare const brand: unique symbol;

/** A primitive that carries its meaning in its type; free at run time. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
