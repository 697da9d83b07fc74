import htm from 'htm';
import { Fragment, h } from 'preact';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** What a view is made of. Text in it is escaped when it is written out; there is no way around that. */
export type View = ComponentChildren;

/** html`<p class=${name}>${text}</p>`. Holes are text, attributes, lists, or views; `...${}` takes several attributes. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => View = htm.bind(h);

export const written = (shown: View): string => renderToString(h(Fragment, null, shown));

/** One line of a `dl`: a name and its value. */
export const fact = (name: string, value: View): View =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
