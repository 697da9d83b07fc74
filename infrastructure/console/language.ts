import { AsyncLocalStorage } from 'node:async_hooks';

export const LANGUAGES = ['pt-BR', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export const isLanguage = (text: string | null): text is Language =>
  (LANGUAGES as readonly (string | null)[]).includes(text);

/** The language that the browser asks for; `accepted` are its own, best first. Portuguese where it asks for neither. */
export const preferred = (accepted: readonly string[]): Language => {
  for (const tag of accepted) {
    if (/^pt\b/i.test(tag)) return 'pt-BR';
    if (/^en\b/i.test(tag)) return 'en';
  }
  return 'pt-BR';
};

const speaking = new AsyncLocalStorage<Language>();

/** Does this work, and whatever it waits for, with texts, amounts and counts in this language. */
export const speakingIn = <Result>(language: Language, work: () => Result): Result =>
  speaking.run(language, work);

/** The language of the answer that is being drawn; Portuguese where none is. */
export const spoken = (): Language => speaking.getStore() ?? 'pt-BR';

export const either = <Text>(portuguese: Text, english: Text): Text =>
  spoken() === 'en' ? english : portuguese;

export type Both = readonly [portuguese: string, english: string];
interface Given {
  readonly [name: string]: Both | ((...about: never[]) => Both) | Given;
}
type Spoken<Of> = Of extends Both
  ? string
  : Of extends (...about: infer About) => Both
    ? (...about: About) => string
    : { readonly [Name in keyof Of]: Spoken<Of[Name]> };

const isBoth = (given: object): given is Both => Array.isArray(given);

/** Texts that are written beside each other: each is read in the language of the answer that is being drawn. */
export const inLanguages = <const Of extends Given>(given: Of): Spoken<Of> => {
  const texts = {};
  for (const [name, one] of Object.entries(given)) {
    const written = typeof one === 'function' || isBoth(one) ? undefined : inLanguages(one);
    const get = (): unknown => {
      if (typeof one === 'function') return (...about: never[]) => either(...one(...about));
      return isBoth(one) ? either(...one) : written;
    };
    Object.defineProperty(texts, name, { get, enumerable: true });
  }
  return texts as Spoken<Of>;
};
