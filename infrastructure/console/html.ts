import htm from 'htm';
import { Fragment, h } from 'preact';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** What a view is made of. Text in it is escaped when it is written out; there is no way around that. */
export type View = ComponentChildren;

/** html`<p class=${name}>${text}</p>`. Holes are text, attributes, lists, or views; `...${}` takes several attributes. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => View = htm.bind(h);

export const written = (shown: View): string => renderToString(h(Fragment, null, shown));

/** Names with their values; what is not there is left out, its name too. */
export const facts = (
  all: readonly (readonly [name: string, value: View] | false | undefined)[],
  look = 'facts',
): View =>
  html`<dl class=${look}>
    ${all.map(
      (one) =>
        one &&
        html`<div>
          <dt>${one[0]}</dt>
          <dd>${one[1]}</dd>
        </div>`,
    )}
  </dl>`;

/** A part of a page under its title. @param id of the title */
export const section = (id: string, title: View, body: View): View =>
  html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${body}
  </section>`;

/** A figure that stands alone, in a card. */
export const tile = (name: string, value: View, note?: View): View =>
  html`<article>
    <small>${name}</small>
    <p>${value}</p>
    ${note && html`<small>${note}</small>`}
  </article>`;

/** Stands where nothing is. @param comes what will be there, or what to do for it */
export const empty = (says: View, comes?: View): View =>
  html`<div class="empty">
    <p>${says}</p>
    ${comes && html`<p>${comes}</p>`}
  </div>`;
