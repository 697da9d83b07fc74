import { describe, expect, test } from '@jest/globals';
import { renderMarkdown } from '../../../../../infrastructure/http/docs/guides/markdown.ts';

const PLACES = new Map([['POST /loan', '../../docs#tag/loans/POST/loan']]);
const rendered = (text: string, file = 'sandbox.md') => renderMarkdown(text, file, PLACES);
const html = (text: string, file?: string): string => rendered(text, file).html.trim();

describe('Markdown as a page', () => {
  test('shows HTML as text, and leaves comments out', () => {
    const text = html(
      '<script>alert(1)</script>\n\na <b onclick="x">c</b> d\n\n<!-- errors -->\n\n<!-- a --> <i>\n',
    );
    expect(text).not.toMatch(/<(script|b|i|!)/);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).toContain('a &lt;b onclick=&quot;x&quot;&gt;c&lt;/b&gt; d');
    expect(text).not.toContain('errors');
    expect(html('```html\n<b>&</b>\n```')).toBe(
      '<pre tabindex="0"><code>&lt;b&gt;&amp;&lt;/b&gt;\n</code></pre>',
    );
    expect(html('[a](javascript:alert(1)) ![<b>](x.png)')).not.toMatch(/href|<img|<b>/);
  });

  test.each([
    ['[c](lifecycle.md#overdue)', 'sandbox.md', '<a href="lifecycle#overdue">c</a>'],
    ['[c](../webhook-verifier/README.md)', 'jobs/README.md', '<a href="webhook-verifier">c</a>'],
    ['[lifecycle.md](lifecycle.md)', 'sandbox.md', '<a href="lifecycle">The life of an operation</a>'],
    ['[c](#here)', 'sandbox.md', '<a href="#here">c</a>'],
    ['[c](https://example.com/?a=1&b=2)', 'sandbox.md', '<a href="https://example.com/?a=1&amp;b=2">c</a>'],
    [
      '[c](decisions/README.md#a)',
      'sandbox.md',
      'c <span class="elsewhere">(docs/decisions/README.md)</span>',
    ],
    ['[c](../README.md)', 'sandbox.md', 'c <span class="elsewhere">(README.md)</span>'],
  ])('%s of %s leads where the page is, or says where the file is', (text, file, expected) => {
    expect(html(text, file)).toBe(`<p>${expected}</p>`);
  });

  test('a request that is named as code leads to the reference, but inside of a link', () => {
    const link = '<a href="../../docs#tag/loans/POST/loan"><code>POST /loan?a=b</code></a>';
    expect(html('`POST /loan?a=b` `GET /nowhere` `constructor`')).toBe(
      `<p>${link} <code>GET /nowhere</code> <code>constructor</code></p>`,
    );
    expect(html('[see `POST /loan`](#a)')).toBe('<p><a href="#a">see <code>POST /loan</code></a></p>');
  });

  test('headings are links to themselves, each with an anchor of its own, and cut the text into sections', () => {
    const {
      html: page,
      headings,
      sections,
    } = rendered(
      '# One: `POST /loan`\n\nFirst\ntext.\n\n## Two\n\n| a |\n|---|\n| b `c` |\n\n## Two\n\n```sh\nls\n```\n',
    );
    expect(page).toContain(
      '<h1 id="one-post-loan"><a href="#one-post-loan">One: <code>POST /loan</code></a></h1>',
    );
    expect(sections.map(({ code }) => code)).toEqual(['', '', 'ls\n ']);
    expect(headings.map(({ anchor }) => anchor)).toEqual(['one-post-loan', 'two', 'two-1']);
    expect(sections.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      'First text.',
      'a b c',
      '',
    ]);
  });
});
