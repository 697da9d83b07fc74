import { html } from './html.ts';
import type { View } from './html.ts';

interface Card {
  readonly id: string;
  readonly title: string;
  /** Where all of what it sums up is listed. */
  readonly to?: string | undefined;
  /** As wide as the page, where others stand side by side. */
  readonly wide?: boolean | undefined;
  /** Attributes by which it is fetched again. */
  readonly live: Readonly<Record<string, string>>;
}

/** A part of a page that sums something up, with the way to its list. One that has a problem comes before the others. */
export const card = ({ id, title, to, wide, live }: Card, body: View): View => html`
  <section id=${id} class=${wide ? 'card wide' : 'card'} aria-labelledby=${`${id}-title`} ...${live}>
    <h2 id=${`${id}-title`}>${to === undefined ? title : html`<a href=${to}>${title}</a>`}</h2>
    ${body}
  </section>
`;
