import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';

interface AgentAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly url: URL;
}

const REFRESH = /http-equiv="refresh" content="0;url=([^"]*)"/;
const MOST_STEPS = 20;

/** A browser without a window: keeps cookies, follows redirects and pages that go on by themselves. */
export class Agent {
  /** By host and name; the text in front of the attributes, and those. */
  readonly cookies = new Map<string, { readonly value: string; readonly attributes: string }>();
  readonly #places: ReadonlyMap<string, number>;

  /** @param places ports of this machine that stand behind origins, as behind a proxy */
  constructor(places: ReadonlyMap<string, number> = new Map()) {
    this.#places = places;
  }

  cookie(part: string): { readonly value: string; readonly attributes: string } | undefined {
    return [...this.cookies].find(([name]) => name.includes(part))?.[1];
  }

  /** One request. */
  ask(
    address: string | URL,
    {
      method = 'GET',
      headers = {},
      body,
    }: {
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    } = {},
  ): Promise<AgentAnswer> {
    const url = new URL(address);
    const port = this.#places.get(url.origin) ?? Number(url.port);
    const own = [...this.cookies].filter(([name]) => name.startsWith(`${url.host} `));
    const cookie = own.map(([name, { value }]) => `${name.split(' ')[1]}=${value}`).join('; ');
    const sent = {
      host: url.host,
      'accept-language': 'en',
      ...(cookie !== '' && { cookie }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const asking = request(
        {
          host: '127.0.0.1',
          port,
          path: `${url.pathname}${url.search}`,
          method,
          headers: sent,
          agent: false,
        },
        (res) => {
          for (const line of res.headers['set-cookie'] ?? []) this.#keep(url, line);
          let text = '';
          res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, text, url }));
          res.on('error', reject);
        },
      );
      asking.on('error', reject);
      asking.end(body);
    });
  }

  /** As far as the way leads. @param until stops in front of an address with this in it */
  async visit(address: string | URL, until?: string): Promise<AgentAnswer> {
    let answer = await this.ask(address);
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const to = answer.headers.location ?? REFRESH.exec(answer.text)?.[1]?.replaceAll('&amp;', '&');
      if (to === undefined) return answer;
      const next = new URL(to, answer.url);
      if (until !== undefined && next.href.includes(until)) return { ...answer, url: next };
      answer = await this.ask(next);
    }
    throw new Error(`no end of redirects at ${answer.url.href}`);
  }

  #keep({ host }: URL, line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const text = attributes.join('; ');
    const gone = value === '' || /expires=Thu, 01 Jan 1970/i.test(text);
    if (gone) this.cookies.delete(`${host} ${name}`);
    else this.cookies.set(`${host} ${name}`, { value, attributes: text });
  }
}
