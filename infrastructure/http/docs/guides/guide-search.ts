import MiniSearch from 'minisearch';
import type { Options, SearchOptions, SearchResult } from 'minisearch';
import { escaped } from './guide-page.ts';

interface Found {
  readonly id: string;
  readonly guide: string;
  readonly heading: string;
  readonly text: string;
  readonly code: string;
}

const MOST_WORDS = 8;
const MOST_RESULTS = 20;
/** Shorter beginnings of words would find nearly everything. */
const SHORTEST_BEGINNING = 3;
const SHORTEST_MISSPELT = 5;

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');

/** Of the index and of what is asked: the plural of a word finds the word. */
const wordOf = (term: string): string => {
  const word = term.toLowerCase();
  if (word.length <= SHORTEST_BEGINNING || !word.endsWith('s')) return word;
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.slice(0, -1);
};

const INDEX: Options<Found> = {
  fields: ['guide', 'heading', 'text', 'code'],
  storeFields: ['guide', 'heading', 'text'],
  tokenize: wordsOf,
  processTerm: wordOf,
};

const RANKED: SearchOptions = {
  boost: { heading: 3, guide: 2, code: 0.2 },
  prefix: (term) => term.length >= SHORTEST_BEGINNING,
  // It has every word of the others, and explains none.
  boostDocument: (id) => (String(id).startsWith('changelog#') ? 0.5 : 1),
};

export const indexOf = (sections: readonly Found[]): string => {
  const index = new MiniSearch<Found>(INDEX);
  index.addAll(sections);
  return JSON.stringify(index);
};

const BEFORE = 80;
const PASSAGE = 260;

const beginnings = (words: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})[\\p{L}\\p{N}]*`, 'giu');

/** The place where the words of the question come first, with the words marked. */
const passageOf = (text: string, words: readonly string[]): string => {
  const marks = beginnings(words);
  const first = text.search(marks);
  const from = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1;
  const cut = text.slice(from, from + PASSAGE);
  const whole = from + PASSAGE >= text.length ? cut : cut.slice(0, Math.max(cut.lastIndexOf(' '), 1));
  let marked = '';
  let at = 0;
  for (const match of whole.matchAll(marks)) {
    marked += `${escaped(whole.slice(at, match.index))}<mark>${escaped(match[0])}</mark>`;
    at = match.index + match[0].length;
  }
  return `${from > 0 ? '… ' : ''}${marked}${escaped(whole.slice(at))}${from + whole.length < text.length ? ' …' : ''}`;
};

const shown = (result: SearchResult): string => {
  const { id, guide, heading, text } = result as unknown as Found;
  const title = guide === heading ? escaped(guide) : `${escaped(guide)}: ${escaped(heading)}`;
  return `<li><a href="guides/${escaped(id)}">${title}</a><p>${passageOf(text, result.terms)}</p></li>`;
};

/**
 * What the guides answer to a question. Its cost is bounded by the number of words that are looked at. Sections with all words come first
 * of all; where there are none, those with some, or with words that are nearly the same.
 */
export const searchIn = async (text: string): Promise<(question: string) => string> => {
  const index = await MiniSearch.loadJSONAsync<Found>(text, INDEX);
  const find = (question: string): readonly SearchResult[] => {
    const words = [...new Set(wordsOf(question))].slice(0, MOST_WORDS).join(' ');
    const all = index.search(words, { ...RANKED, combineWith: 'AND' });
    const found =
      all.length > 0
        ? all
        : index.search(words, { ...RANKED, fuzzy: (term) => term.length >= SHORTEST_MISSPELT && 1 });
    return found.slice(0, MOST_RESULTS);
  };
  return (question) => {
    const found = find(question);
    if (found.length === 0)
      return `<h1>Search</h1>\n<p>Nothing was found for “${escaped(question)}”. The <a href="../docs">reference</a> has every request and field.</p>\n`;
    return `<h1>Found for “${escaped(question)}”</h1>\n<ol class="found">${found.map(shown).join('\n')}</ol>\n`;
  };
};
