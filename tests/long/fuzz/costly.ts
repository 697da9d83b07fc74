import type { FuzzRequest, Known } from './requests.ts';

/** One request that tries to be expensive, and what is expensive about it. */
interface CostlyRequest extends FuzzRequest {
  readonly what: string;
}

const KIB = 1_024;
const MIB = KIB * KIB;
/** Node takes 16 KiB of request line and headers; the token needs some of it. */
const HEADER_ROOM = 14 * KIB;

const fill = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));
const base64 = (text: string): string => Buffer.from(text).toString('base64url');

const PATHS: Readonly<Record<string, string>> = {
  slashes: fill('/', HEADER_ROOM),
  'many segments': fill('/a', HEADER_ROOM),
  'dots to go up': `/loan${fill('/..', HEADER_ROOM)}`,
  'encoded dots': `/loan/${fill('%2e%2e%2f', HEADER_ROOM)}`,
  'an encoded code': `/loan/${fill('%41', HEADER_ROOM)}`,
  'a code of emoji': `/loan/${fill('%F0%9F%92%B8', HEADER_ROOM)}`,
  'percents that decode to percents': `/loan/${fill('%25', HEADER_ROOM)}`,
  'broken percents': `/loan/${fill('%', HEADER_ROOM)}`,
  'a long webhook id': `/webhook/${fill('0-', HEADER_ROOM)}/deliveries`,
  'a long event id': `/webhook/${fill('a', HEADER_ROOM / 2)}/redeliver/${fill('b', HEADER_ROOM / 2)}`,
  'a page of the reference that is not there': `/docs/${fill('../', HEADER_ROOM)}x.js`,
};

const QUERY_NAMES = ['limit', 'cursor', 'status', 'fund_id', 'updated_since', 'since', 'limits', ''];
const QUERY_VALUES: Readonly<Record<string, string>> = {
  nines: fill('9', HEADER_ROOM),
  'a huge exponent': '1e999999999',
  'zeros before a digit': `${fill('0', HEADER_ROOM)}1`,
  spaces: `${fill('+', HEADER_ROOM)}x`,
  'encoded text': fill('%41', HEADER_ROOM),
  emoji: fill('%F0%9F%92%B8', HEADER_ROOM),
  'a long fraction of a second': `2026-01-01T00:00:00.${fill('0', HEADER_ROOM)}Z`,
  'a cursor of brackets': base64(fill('[', HEADER_ROOM * 0.7)),
  'a cursor of digits': base64(`{"a":${fill('9', HEADER_ROOM * 0.7)}}`),
  'a cursor of separators': base64(fill('|,:. ', HEADER_ROOM * 0.7)),
  'base64 that is none': fill('=_-+/', HEADER_ROOM),
};
const WHOLE_QUERIES: Readonly<Record<string, string>> = {
  'many names': Array.from({ length: 2_000 }, (_, i) => `k${i}=`)
    .join('&')
    .slice(0, HEADER_ROOM),
  'one name many times': fill('limit=1&', HEADER_ROOM),
  ampersands: fill('&', HEADER_ROOM),
  equals: fill('=', HEADER_ROOM),
  brackets: `limit${fill('[a]', HEADER_ROOM)}=1`,
  'names nearly known': Array.from({ length: 1_000 }, (_, i) => `cursr${i}=1`)
    .join('&')
    .slice(0, HEADER_ROOM),
};

const jwt = (header: string, payload = base64('{}')): string =>
  `Bearer ${base64(header)}.${payload}.${base64('x'.repeat(64))}`;
const AUTHORIZATIONS: Readonly<Record<string, string>> = {
  'a token of dots': `Bearer ${fill('.', HEADER_ROOM)}`,
  'a token of one part': `Bearer ${fill('a', HEADER_ROOM)}`,
  'a JWT whose header is nested': jwt(fill('[', HEADER_ROOM * 0.7)),
  'a JWT with a long key id': jwt(JSON.stringify({ alg: 'ES256', kid: fill('k', HEADER_ROOM * 0.6) })),
  'a JWT with many critical fields': jwt(
    JSON.stringify({ alg: 'ES256', kid: 'k', crit: Array.from({ length: 1_200 }, (_, i) => `c${i}`) }),
  ),
  'a JWT with a key inside': jwt(
    JSON.stringify({ alg: 'RS256', jwk: { kty: 'RSA', n: fill('A', HEADER_ROOM * 0.6), e: 'AQAB' } }),
  ),
  'a JWT without algorithm': jwt('{"alg":"none"}', base64(fill('{"a":', HEADER_ROOM * 0.5))),
  'a compressed JWT': jwt('{"alg":"dir","enc":"A256GCM","zip":"DEF"}', base64(fill('x', HEADER_ROOM * 0.5))),
  'Basic credentials': `Basic ${Buffer.from(fill(':', HEADER_ROOM * 0.7)).toString('base64')}`,
  'Basic credentials with escapes': `Basic ${Buffer.from(fill('%41', HEADER_ROOM * 0.7)).toString('base64')}`,
  'many schemes': fill('Bearer ', HEADER_ROOM),
};

const HEADER_NAMES = [
  ...[
    'accept',
    'accept-encoding',
    'accept-charset',
    'if-none-match',
    'if-match',
    'if-modified-since',
    'range',
  ],
  ...['cookie', 'x-forwarded-for', 'forwarded', 'traceparent', 'tracestate', 'expect-ct', 'x-request-id'],
  ...['content-type', 'x-sandbox-outcome', 'content-language', 'te', 'via', 'user-agent', 'origin'],
];
/** What a reader of a header may expect at its beginning. */
const BEGINNINGS = [
  'gzip',
  'gzip;q=1',
  '*/*',
  'application/json;',
  'text/html;q',
  'Bearer',
  'bytes=0',
  '"a"',
  'a=b;',
];
const HEADER_VALUES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    BEGINNINGS.map((begin) => [`${begin} and spaces`, `${begin}${fill(' ', HEADER_ROOM)}x`]),
  ),
  spaces: `a,${fill(' ', HEADER_ROOM)}x`,
  commas: fill(',', HEADER_ROOM),
  'a list': fill('W/"a", ', HEADER_ROOM),
  weights: fill('a/b;q=0.001, ', HEADER_ROOM),
  addresses: fill('::1, 10.0.0.1, ', HEADER_ROOM),
  parameters: `a/b${fill('; a="\\""', HEADER_ROOM)}`,
  'a boundary': `multipart/form-data; boundary=${fill('-', HEADER_ROOM)}`,
  digits: fill('9', HEADER_ROOM),
  ranges: `bytes=${fill('0-1,', HEADER_ROOM)}`,
};

const numbersOf = (length: number): Readonly<Record<string, string>> => ({
  'a number of a digit each byte': fill('9', length),
  'a fraction of a digit each byte': `0.${fill('3', length)}`,
  'a huge exponent': '1e999999999',
  'a tiny exponent': '1e-999999999',
  'a number with zeros': `1${fill('0', length)}e-${length}`,
});

const textsOf = (length: number): Readonly<Record<string, string>> => ({
  spaces: fill(' ', length),
  escapes: fill('\\u0041', length),
  'lone surrogates': fill('\\ud800', length),
  emoji: fill('💸', length / 2),
  'combining marks': `a${fill('\u0301', length / 2)}`,
  backslashes: fill('\\\\', length),
  dots: fill('.', length),
  'at signs': `${fill('a@', length)}`,
  digits: fill('1', length),
});

const numbered = (entry: (i: number) => string, length: number): string => {
  let text = entry(0);
  for (let i = 1; text.length < length; i += 1) text += `,${entry(i)}`;
  return text;
};

/** Many of something small: what is done for each of them adds up. */
const crowds = (length: number): Readonly<Record<string, string>> => ({
  'unknown fields': `{${numbered((i) => `"${i.toString(36)}":1`, length)}}`,
  'fields nearly known': `{${numbered((i) => `"originator_proposal_cod${i}":1`, length)}}`,
  decimals: `[${numbered((i) => `0.${i % 10}23`, length)}]`,
  'decimals in a field': `{"installments":[${numbered((i) => `0.${i % 10}23`, length)}]}`,
  'objects in a field': `{"installments":[${numbered(() => '{}', length)}]}`,
});

const jsonBodies = (limit: number, fields: readonly string[]): Readonly<Record<string, string>> => {
  const room = limit - 200;
  return {
    'opened lists': fill('[', room),
    'opened objects': fill('{"a":', room),
    'closed lists': `${fill('[', room / 2)}${fill(']', room / 2)}`,
    ...crowds(room - 40),
    ...Object.fromEntries(
      Object.entries(crowds(MIB - KIB)).map(([what, text]) => [`${what}, beyond the limit`, text]),
    ),
    whitespace: `${fill(' \n\t', room)}{}`,
    'one name many times': `{${fill('"idempotency_key":"1",', room)}"a":1}`,
    'names that objects have': `{${fill('"__proto__":{},"constructor":1,', room)}"a":1}`,
    ...Object.fromEntries(
      fields.flatMap((field) => [
        ...Object.entries(numbersOf(room)).map(([what, value]) => [
          `${field}: ${what}`,
          `{"${field}":${value}}`,
        ]),
        ...Object.entries(textsOf(room)).map(([what, value]) => [
          `${field}: ${what}`,
          `{"${field}":"${value}"}`,
        ]),
      ]),
    ),
  };
};

const JSON_TARGETS = [
  ['POST', '/installment/settle', 8, ['settled_value', 'settled_at', 'idempotency_key']],
  ['POST', '/installment/prepayment', 8, ['prepayment_value', 'originator_proposal_code']],
  ['POST', '/loan/repurchase', 16, ['reason_detail', 'repurchase_value']],
  ['POST', '/webhook', 64, ['url', 'events', 'description']],
  ['PATCH', '/loan/renegotiate', 256, ['effective_date', 'original_proposal_code']],
] as const;

const part = (headers: string, content: string): string => `--b\r\n${headers}\r\n\r\n${content}\r\n`;
const named = (name: string, more = ''): string => `Content-Disposition: form-data; name="${name}"${more}`;

/** Forms whose frame is the expensive thing; what stands in the data part is the body tests' matter. */
const FORMS: Readonly<Record<string, string>> = {
  'many small parts': fill(part(named('a'), ''), 900 * KIB),
  'many files': fill(part(named('files', '; filename="a.pdf"'), '%PDF-'), 900 * KIB),
  'many data parts': fill(part(named('loan_data'), '{}'), 900 * KIB),
  'many headers in a part': part(`${named('loan_data')}\r\n${fill('a: b\r\n', 60 * KIB)}c: d`, '{}'),
  'a long header in a part': part(`${named('loan_data')}\r\na: ${fill(' ', 60 * KIB)}b`, '{}'),
  'a header that never ends': `--b\r\n${fill('a', 900 * KIB)}`,
  'a long name': part(named(fill('a', 60 * KIB)), '{}'),
  'a file name of escapes': part(named('files', `; filename="${fill('\\"', 60 * KIB)}"`), '%PDF-'),
  'an encoded file name': part(named('files', `; filename*=utf-8''${fill('%41', 60 * KIB)}`), '%PDF-'),
  'a file name of percents': part(named('files', `; filename="${fill('%22', 60 * KIB)}"`), '%PDF-'),
  'parameters without end': part(named('loan_data', fill('; a=b', 60 * KIB)), '{}'),
  'nearly boundaries': part(named('files', '; filename="a.pdf"'), `%PDF-${fill('\r\n--', 900 * KIB)}`),
  'line ends': part(named('files', '; filename="a.pdf"'), `%PDF-${fill('\r\n', 900 * KIB)}`),
  'hyphens before the first part': `${fill('-', 900 * KIB)}\r\n`,
  'a long preamble': `${fill('\r\n--c', 900 * KIB)}\r\n${part(named('loan_data'), '{}')}`,
  'a long end': `${part(named('loan_data'), '{}')}--b--${fill('\r\n--b', 900 * KIB)}`,
  'a form in a form': part(
    `${named('loan_data')}\r\nContent-Type: multipart/mixed; boundary=c`,
    fill('--c\r\n', 200 * KIB),
  ),
  'an encoding of its own': part(
    `${named('loan_data')}\r\nContent-Transfer-Encoding: base64`,
    fill('QUFB', 200 * KIB),
  ),
};

const BOUNDARIES = [fill('-', 70), fill('a', 200), fill('-', 8 * KIB), '', '"', fill("'", 69)];

const TOKEN_FORMS: Readonly<Record<string, string>> = {
  'many fields': fill('a=b&', 900 * KIB),
  'one field many times': fill('client_id=a&', 900 * KIB),
  escapes: `client_id=${fill('%41', 60 * KIB)}`,
  'broken escapes': `client_id=${fill('%', 60 * KIB)}`,
  pluses: `client_secret=${fill('+', 60 * KIB)}`,
  ampersands: fill('&', 900 * KIB),
  equals: fill('=', 900 * KIB),
  'a long secret': `grant_type=client_credentials&client_id=a&client_secret=${fill('s', 7 * KIB)}`,
};

/** Everything that a caller can make long, deep, many or odd, once for each place where it goes in. */
export function* costlyRequests(known: Known): Generator<CostlyRequest> {
  const authorization = `Bearer ${known.token}`;
  const get = (
    what: string,
    path: string,
    headers: Record<string, string> = { authorization },
  ): CostlyRequest => ({
    ...{ what, method: 'GET', path, headers, body: undefined },
  });
  for (const [what, path] of Object.entries(PATHS)) yield get(`path: ${what}`, path);
  for (const list of ['/loan', `/webhook/${known.webhooks[0]}/deliveries`]) {
    for (const name of QUERY_NAMES)
      for (const [what, value] of Object.entries(QUERY_VALUES))
        yield get(`query ${name} of ${list}: ${what}`, `${list}?${name}=${value}`);
    for (const [what, query] of Object.entries(WHOLE_QUERIES))
      yield get(`query of ${list}: ${what}`, `${list}?${query}`);
  }
  for (const [what, value] of Object.entries(AUTHORIZATIONS))
    yield get(`authorization: ${what}`, '/loan', { authorization: value });
  for (const name of HEADER_NAMES)
    for (const [what, value] of Object.entries(HEADER_VALUES))
      for (const path of ['/openapi.json', `/loan/${known.codes[0]}`])
        yield get(`${name} of ${path}: ${what}`, path, { authorization, [name]: value });
  const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`x${i}`, '']));
  yield get('many headers', '/loan', { authorization, ...many });
  yield* costlyBodies(authorization);
}

function* costlyBodies(authorization: string): Generator<CostlyRequest> {
  for (const [method, path, kib, fields] of JSON_TARGETS)
    for (const [what, text] of Object.entries(jsonBodies(kib * KIB, fields)))
      yield {
        ...{ what: `${method} ${path}: ${what}`, method, path },
        headers: { authorization, 'content-type': 'application/json' },
        body: Buffer.from(text),
      };
  for (const [method, path, data] of [
    ['POST', '/loan', 'loan_data'],
    ['PATCH', '/loan/renegotiate', 'renegotiation_data'],
    ['POST', '/loan/files', 'files_data'],
  ] as const) {
    const form = (what: string, text: string, boundary = 'b'): CostlyRequest => ({
      ...{ what: `${method} ${path}, a form: ${what}`, method, path },
      headers: { authorization, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: Buffer.from(text),
    });
    for (const [what, text] of Object.entries(FORMS)) yield form(what, `${text}--b--\r\n`);
    for (const length of [256 * KIB - 200, MIB - KIB])
      for (const [what, text] of Object.entries(crowds(length)))
        yield form(`${what}, ${length} characters`, `${part(named(data), text)}--b--\r\n`);
    for (const boundary of BOUNDARIES)
      yield form(
        `boundary ${boundary.slice(0, 8)} of ${boundary.length}`,
        `--${fill('-', 800 * KIB)}\r\n`,
        boundary,
      );
  }
  for (const [what, text] of Object.entries(TOKEN_FORMS))
    yield {
      ...{ what: `POST /token: ${what}`, method: 'POST', path: '/token' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(text),
    };
}
