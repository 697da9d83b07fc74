import { speakingIn } from '../../infrastructure/console/language.ts';
import type { Language } from '../../infrastructure/console/language.ts';

/** Texts of the console as one language has them, whatever is spoken where they are read. */
export const spokenIn = <Texts extends object>(language: Language, texts: Texts): Texts =>
  new Proxy(texts, {
    get(_, name) {
      const one: unknown = speakingIn(language, () => Reflect.get(texts, name));
      if (typeof one === 'function')
        return (...about: unknown[]): unknown =>
          speakingIn(language, () => Reflect.apply(one, undefined, about));
      return typeof one === 'object' && one !== null ? spokenIn(language, one) : one;
    },
  });
