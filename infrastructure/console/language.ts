import { AsyncLocalStorage } from 'node:async_hooks';

export const LANGUAGES = ['pt-BR', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The same texts in each language; the compiler misses the one that lacks. */
export type InLanguages<Texts> = Readonly<Record<Language, Texts>>;

/** One of these texts, in each language. */
export const inEach = <Name extends string>(
  texts: InLanguages<Readonly<Record<NoInfer<Name>, string>>>,
  name: Name,
): InLanguages<string> => ({ 'pt-BR': texts['pt-BR'][name], en: texts.en[name] });

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

/** Does this work, and whatever it waits for, with amounts, counts and fields in this language. */
export const speakingIn = <Result>(language: Language, work: () => Result): Result =>
  speaking.run(language, work);

/** The language of the answer that is being drawn; Portuguese where none is. */
export const spoken = (): Language => speaking.getStore() ?? 'pt-BR';
