import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { HEAPS, threadOptions } from '../../../support/threads.ts';
import { whenAsked } from '../../../support/opening.ts';
import type { OpenApiDocument } from '../../openapi/operation.ts';
import { ServedContent } from '../served-content.ts';
import { GUIDES } from './guide-list.ts';
import { guidePage, listOfAll } from './guide-page.ts';
import type { PageParts } from './guide-page.ts';

export interface GuidesTask {
  readonly places: ReadonlyMap<string, string>;
  readonly stylesheet: string;
}

export interface RenderedGuides {
  readonly pages: Readonly<Record<string, string>>;
  readonly index: string;
}

const THREAD = new URL('./guides-thread.ts', import.meta.url);

const HTML = 'text/html; charset=utf-8';

/** Pages of text: no script at all. */
export const GUIDE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const placesOf = ({ paths }: OpenApiDocument): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods as Readonly<Record<string, { readonly tags: readonly string[] }>>).map(
        ([method, { tags }]) => {
          const request = `${method.toUpperCase()} ${path}`;
          return [request, `../../docs#tag/${tags[0]!.toLowerCase()}/${request.replace(' ', '')}`];
        },
      ),
    ),
  );

/**
 * The guides as pages. They are made of the files of docs/ when the first of them is asked for, in a thread that ends then, and kept:
 * that takes longer than a start should, or a request beside it wait.
 */
export class Guides {
  readonly stylesheet: ServedContent;
  readonly stylesheetName: string;
  readonly list: ServedContent;
  readonly #places: ReadonlyMap<string, string>;
  readonly #made = whenAsked(() => this.#make());

  private constructor(document: OpenApiDocument, stylesheet: ServedContent) {
    this.stylesheet = stylesheet;
    this.stylesheetName = `guides.${stylesheet.digest.slice(0, 16)}.css`;
    const parts = { title: 'Guides', isList: true, main: listOfAll() } as const;
    this.list = new ServedContent(Buffer.from(this.#html(parts)), HTML);
    this.#places = placesOf(document);
  }

  static async open(document: OpenApiDocument): Promise<Guides> {
    const text = await readFile(new URL('./guides.css', import.meta.url));
    return new Guides(document, new ServedContent(text, 'text/css; charset=utf-8'));
  }

  async page(name: string): Promise<ServedContent | undefined> {
    return GUIDES.some((guide) => guide.name === name) ? (await this.#made()).pages.get(name) : undefined;
  }

  async answer(question: string): Promise<Buffer> {
    const { search } = await this.#made();
    return Buffer.from(this.#html({ title: 'Search', question, main: search(question) }));
  }

  async #make() {
    const task: GuidesTask = { places: this.#places, stylesheet: this.stylesheetName };
    const worker = new Worker(THREAD, { ...threadOptions('guides', HEAPS.guides), workerData: task });
    const [{ pages, index }] = (await once(worker, 'message')) as [RenderedGuides];
    const { searchIn } = await import('./guide-search.ts');
    return {
      pages: new Map<string, ServedContent>(
        Object.entries(pages).map(([name, page]) => [name, new ServedContent(Buffer.from(page), HTML)]),
      ),
      search: await searchIn(index),
    };
  }

  #html(parts: Omit<PageParts, 'toDocs' | 'stylesheet'>): string {
    return guidePage({ ...parts, toDocs: '', stylesheet: this.stylesheetName });
  }
}
