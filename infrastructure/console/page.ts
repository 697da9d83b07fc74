import type { Desk } from '../../application/desk-view/desk.ts';
import { may } from '../../application/desk/rights.ts';
import type { Person, Right } from '../../application/desk/rights.ts';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Rows } from '../presenting/columns.ts';
import type { CsvDialect } from '../presenting/csv.ts';
import type { DeskEntry } from '../../domain/desk/line.ts';
import type { View } from './html.ts';
import { inLanguages, speakingIn } from './language.ts';
import type { Language } from './language.ts';

const texts = inLanguages({
  noSuchPage: [
    'Esta página não existe. Escolha uma das páginas acima.',
    'There is no such page. Choose one of the pages above.',
  ],
});

/** A request to a page, after everything that could refuse it. */
export interface Visit {
  readonly page: Page;
  readonly language: Language;
  readonly operator: string;
  readonly csv: CsvDialect;
  readonly person?: Person;
  readonly readOnly: boolean;
  readonly path: string;
  readonly formToken: string;
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind the path. Never anything of a borrower: addresses are kept by browsers. */
  readonly query: URLSearchParams;
  readonly fields: URLSearchParams;
  readonly file?: { readonly name: string; readonly bytes: Buffer };
  readonly clock: BusinessClock;
  /** By which deliveries and sessions go. */
  readonly realClock: RealClock;
  readonly logger: Logger;
  /** Lines of the desk log that cannot wait for the answer, which may fail. @throws ConsoleProblem */
  readonly record: (entries: readonly DeskEntry[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * `logged`: what the desk log says of it; default: what the address names, as the kind of route has it. `shows`: whose data it shows,
 * where its address and that line do not say so; fetched again, it is a line again where this differs.
 */
export type Answer = { readonly logged?: readonly DeskEntry[]; readonly shows?: readonly string[] } &
  /** A whole page around this view. */
  (
    | {
        readonly kind: 'page';
        readonly body: View;
        readonly title?: string;
        readonly status?: number;
        readonly of?: Page;
      }
    /** A view that takes the place of a part of the page. */
    | { readonly kind: 'part'; readonly body: View; readonly status?: number }
    | { readonly kind: 'redirect'; readonly to: string }
    /** A file. `inline`: shown in a frame of the console, in a sandbox. */
    | {
        readonly kind: 'file';
        readonly name: string;
        readonly mediaType: string;
        readonly inline?: boolean;
        readonly content: Rows<string | Uint8Array>;
      }
  );

export type Route = {
  /** As Express reads it, such as `/operations/:application/:code`. */
  readonly path: string;
  readonly handle: (visit: Visit, app: Desk) => Promise<Answer>;
} & (
  | {
      /**
       * view: GET, shows. query: POST, shows what a form asks for and changes nothing. action: POST, changes something, which read-only
       * refuses, and sends the browser on to what it shows, @see keptPage.
       */
      readonly kind: 'view' | 'query' | 'action';
    }
  /** A query with a file of at most so many bytes. */
  | { readonly kind: 'upload'; readonly largest: number }
);

/** A page with everything that belongs to it; a folder of `pages/`, and an entry in `pages/all.ts`. */
export interface Page {
  readonly path: string;
  readonly title: () => string;
  /** Left out of the navigation: it needs parameters. */
  readonly hidden?: boolean;
  /** Without this right the person has none of its routes, and no link to it; default: to see anything. */
  readonly needs?: Right;
  /** The page opens a stream of changes; @see liveWith */
  readonly live?: boolean;
  readonly routes: readonly Route[];
}

/** A file of text, whose name says what it is. */
export const textFile = (name: string, content: Rows<string>): ActionAnswer & { readonly kind: 'file' } => ({
  kind: 'file',
  name,
  mediaType: name.endsWith('.csv') ? 'text/csv; charset=utf-8' : 'application/json',
  content,
});

export const view = (path: string, handle: Route['handle']): Route => ({ kind: 'view', path, handle });
export const part = (path: string, drawn: (visit: Visit, app: Desk) => Promise<View>): Route =>
  view(path, async (visit, app) => ({ kind: 'part', body: await drawn(visit, app) }));
export const query = (path: string, handle: Route['handle']): Route => ({ kind: 'query', path, handle });
export type PageAnswer = Extract<Answer, { readonly kind: 'page' }>;
/** A page as the answer would be the form again, for who goes back to it or loads it again. */
export type ActionAnswer = Exclude<Answer, { readonly kind: 'page' }>;
type Act = (visit: Visit, app: Desk) => Promise<ActionAnswer>;
export const action = (path: string, handle: Act): Route => ({ kind: 'action', path, handle });
export const upload = (path: string, largest: number, handle: Route['handle']): Route => ({
  kind: 'upload',
  path,
  largest,
  handle,
});

export const pagesFor = (visit: Pick<Visit, 'person'>, pages: readonly Page[]): readonly Page[] =>
  pages.filter(({ needs = 'see' }) => may(visit, needs));

interface Link {
  readonly to: string;
  readonly says: () => string;
}

/** Shown to the person instead of an answer, with what to do about it. */
export class ConsoleProblem extends Error {
  override readonly name = 'ConsoleProblem';
  readonly status: number;
  readonly says: () => string;
  readonly link: Link | undefined;
  /** A form that was not taken, and may be sent once more. */
  readonly form: URLSearchParams | undefined;
  /** Default: that it is not possible. */
  readonly title: (() => string) | undefined;

  constructor(
    status: number,
    says: () => string,
    more: {
      readonly link?: Link;
      readonly form?: URLSearchParams;
      readonly title?: () => string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(speakingIn('en', says), { cause: more.cause });
    this.status = status;
    this.says = says;
    this.link = more.link;
    this.form = more.form;
    this.title = more.title;
  }
}

export const noSuchPage = (): ConsoleProblem => new ConsoleProblem(404, () => texts.noSuchPage);

/** What was typed into a field that may be left empty, as `read` understands it. @throws ConsoleProblem where it does not */
export const typedOr = <Value>(
  text: string,
  read: (text: string) => Value | undefined,
  refusal: () => ConsoleProblem,
): Value | undefined => {
  if (text === '') return undefined;
  const value = read(text);
  if (value === undefined) throw refusal();
  return value;
};
