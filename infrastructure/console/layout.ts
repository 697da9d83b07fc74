import { badge, html, written } from './html.ts';
import type { View } from './html.ts';
import { tokenField } from './forms.ts';
import { LANGUAGES, inLanguages, speakingIn } from './language.ts';
import type { Language } from './language.ts';
import { ownerText } from './live.ts';
import type { Page } from './page.ts';
import type { Person } from '../../application/desk/rights.ts';

const texts = inLanguages({
  name: ['Recebíveis', 'Receivables'],
  skip: ['Ir para o conteúdo', 'Skip to the content'],
  language: ['Idioma', 'Language'],
  end: ['Encerrar a sessão', 'End the session'],
  readOnly: ['Somente leitura', 'Read only'],
  operator: ['Operador', 'Operator'],
  pages: ['Páginas', 'Pages'],
  signOut: ['Sair', 'Sign out'],
  signInAgain: ['Entrar de novo em outra aba', 'Sign in again in another tab'],
  overSignedIn: [
    'A sessão terminou. Nada foi enviado, e o que foi digitado continua aqui. Entre de novo em outra aba deste navegador e envie de novo.',
    'The session is over. Nothing was sent, and what was typed stays here. Sign in again in another tab of this browser, and send again.',
  ],
  noScripts: [
    'Este navegador não executa os scripts do console: o que é buscado para dentro de uma página (cartões de Hoje, carteira, o que o fundo já tem), a conciliação e a verificação não aparecem sem eles.',
    'This browser runs no scripts of the console: what is fetched into a page (cards of Today, the portfolio, what the fund has already), reconciliation and verification do not show without them.',
  ],
  over: [
    'A sessão terminou, ou o console foi encerrado. Nada foi enviado, e o que foi digitado continua aqui. Peça um novo endereço no terminal do console (tecla n), abra-o em outra aba deste navegador e envie de novo.',
    'The session is over, or the console has ended. Nothing was sent, and what was typed stays here. Ask for a new address on the terminal of the console (key n), open it in another tab of this browser, and send again.',
  ],
});
const NAMES: Record<Language, string> = { 'pt-BR': 'Português', en: 'English' };

/** The policy of the browser keeps what these would need from running. */
const HTMX = JSON.stringify({ includeIndicatorCSS: false, history: false, extensions: 'sse' });

interface Shown {
  readonly language: Language;
  /** Undefined: nobody is there. */
  readonly operator: string | undefined;
  readonly person?: Person | undefined;
  readonly readOnly: boolean;
  readonly formToken: string;
  readonly title: string;
  readonly body: View;
  /** The one that is open; undefined for an error. */
  readonly page: Page | undefined;
  readonly pages: readonly Page[];
}

const languageForm = (shown: Shown): View => html`
  <form method="post" action="/session/language" class="inline">
    ${tokenField(shown)}
    ${LANGUAGES.filter((one) => one !== shown.language).map(
      (one) =>
        html`<button class="secondary" name="language" value=${one} lang=${one}>${NAMES[one]}</button>`,
    )}
  </form>
`;

const navigation = ({ pages, page }: Shown): View => html`
  <nav aria-label=${texts.pages}>
    <ul>
      ${pages
        .filter(({ hidden }) => hidden !== true)
        .map(
          (one) =>
            html`<li>
              <a href=${one.path} aria-current=${one === page ? 'page' : undefined}>${one.title()}</a>
            </li>`,
        )}
    </ul>
  </nav>
`;

/** Whoever has signed in goes out by a link: forms that lead to another host are stopped. */
const personView = (shown: Shown, operator: string): View => {
  const { readOnly, person } = shown;
  return html`<div class="person">
    <span>${person ? operator : `${texts.operator}: ${operator}`}</span>
    ${readOnly && badge('warn', texts.readOnly)} ${languageForm(shown)}
    ${
      person
        ? html`<a href="/session/end" role="button" class="secondary">${texts.signOut}</a>`
        : html`<form method="post" action="/session/end" class="inline">
            ${tokenField(shown)}
            <button class="secondary">${texts.end}</button>
          </form>`
    }
  </div>`;
};

const overView = ({ person }: Shown): View => {
  const again = html` <a href="/session/start" target="_blank" rel="noopener">${texts.signInAgain}</a>`;
  const told = person ? [texts.overSignedIn, again] : texts.over;
  return html`<p id="session-over" class="problem" role="alert" hidden>${told}</p>`;
};

export const documentOf = (shown: Shown): string => speakingIn(shown.language, () => drawn(shown));

const drawn = (shown: Shown): string => {
  const { language, title, operator, person, formToken, body, page } = shown;
  const inherited = JSON.stringify({ 'X-Form-Token': formToken });
  const view = html`
    <html lang=${language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content=${HTMX} />
        <title>${title} · ${texts.name}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/assets/pico.css" />
        <link rel="stylesheet" href="/assets/console.css" />
        <link rel="stylesheet" href="/assets/parts.css" />
        <script defer src="/assets/htmx.js"></script>
        <script defer src="/assets/hx-sse.js"></script>
        <script defer src="/assets/chart.js"></script>
        <script defer src="/assets/pictures.js"></script>
        <script defer src="/assets/console.js"></script>
      </head>
      <body data-owner=${ownerText(person)} ...${{ 'hx-headers:inherited': inherited }}>
        <a class="skip" href="#content">${texts.skip}</a>
        <header>
          <strong>${texts.name}</strong>
          ${[navigation(shown), operator !== undefined && personView(shown, operator)]}
        </header>
        <main id="content">
          ${page?.live && html`<div id="live" hidden ...${{ 'hx-sse:connect': '/live' }}></div>`}
          <h1>${title}</h1>
          <noscript><p class="problem">${texts.noScripts}</p></noscript>
          ${[body, overView(shown)]}
        </main>
      </body>
    </html>
  `;
  return `<!doctype html>${written(view)}`;
};

/**
 * What an element needs for its content to be fetched again when something has changed. Only on a page that is `live`. The element
 * itself stays: htmx keeps a change that is told during a request for its next one, and forgets it with an element that is replaced.
 */
export const liveWith = (path: string): Readonly<Record<string, string>> => ({
  'hx-get': path,
  'hx-trigger': 'changed from:#live',
  'hx-swap': 'innerHTML strip:true',
  // A page that is left open keeps no session alive.
  'hx-headers': JSON.stringify({ 'X-Unattended': '1' }),
});
