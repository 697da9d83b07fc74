import type { Random } from '../../support/random.ts';

type Json = ReturnType<typeof JSON.parse>;

/** Values that have broken services before. */
const HOSTILE: readonly Json[] = [
  ...[null, true, false, 0, -0, -1, 1, 0.1, 0.001, 1.005, 1e308, -1e308, 5e-324, 2 ** 53, 999_999_999.99],
  ...[1_000_000_000, 9.999999999999999, 1e21, '', ' ', '0', '-1', 'null', 'true', '950.00', 'NaN'],
  ...['2026-02-30', '2026-13-01', '0000-00-00', '9999-12-31', '2026-01-15T12:00:00Z', '2026-1-5'],
  ...['\u0000', 'a\u0000b', '\u202e', '\ufeff', '\ud800', '\udfff\ud800', '💸'.repeat(50), 'é', 'e\u0301'],
  ...['../../etc/passwd', '..', '.', '%00', '%2e%2e%2f', "' or 1=1 --", '${7*7}', '{{7*7}}', '<script>'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'x'.repeat(300), 'x'.repeat(70_000)],
  ...[
    [],
    {},
    [[]],
    [{}],
    [null],
    { a: { b: { c: {} } } },
    { length: 3 },
    { __proto__: null },
    { toString: 1 },
  ],
  ...[
    'http://127.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://user:pw@example.com/',
  ],
  ...['https://example.com:99999/', 'HTTPS://EXAMPLE.COM', 'https://', 'javascript:alert(1)'],
];

const deep = (depth: number): Json =>
  Array.from({ length: depth }).reduce<Json>((inner, _, i) => (i % 2 ? [inner] : { a: inner }), 1);

const wide = (random: Random): Json =>
  Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, random.below(10)]));

export const hostileValue = (random: Random): Json => {
  const kind = random.below(40);
  if (kind === 0) return deep(random.below(200));
  if (kind === 1) return wide(random);
  if (kind === 2) return Array.from({ length: random.below(3_000) }, () => random.pick(HOSTILE));
  return random.pick(HOSTILE);
};

interface Place {
  readonly holder: Json;
  readonly key: string | number;
}

const placesIn = (value: Json): Place[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => [{ holder: value, key }, ...placesIn(value[key])]);
};

const tweaked = (value: Json, random: Random): Json => {
  if (typeof value === 'number') {
    return random.pick([-value, value / 3, value * 1e6, String(value), value + 0.001, 0, Math.round(value)]);
  }
  if (typeof value === 'string') {
    return random.pick([
      ...[value.slice(1), `${value} `, value.toUpperCase(), value + value, [...value].reverse().join('')],
      ...[value.repeat(200), value.replace(/./, '\u0000'), value.replace(/\d/, 'x'), Number(value)],
    ]);
  }
  if (Array.isArray(value)) return random.pick([[], [...value, ...value], value[0], [value], value.slice(1)]);
  return hostileValue(random);
};

/** Also under names that an assignment would take for something else. */
const addField = (holder: Json, name: string, random: Random): void => {
  const value = hostileValue(random);
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
};

/** A copy with one thing wrong. */
export const mutated = (original: Json, random: Random): Json => {
  const value = structuredClone(original);
  const places = placesIn(value);
  if (places.length === 0 || random.chance(0.03)) return hostileValue(random);
  const { holder, key } = random.pick(places);
  switch (random.below(5)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 1:
      holder[key] = hostileValue(random);
      break;
    case 2:
      if (Array.isArray(holder)) holder.push(hostileValue(random));
      else addField(holder, random.pick(['extra', '__proto__', 'id', 'status', 'constructor', '']), random);
      break;
    case 3:
      holder[key] = random.pick(places.map((place) => place.holder[place.key]));
      break;
    default:
      holder[key] = tweaked(holder[key], random);
  }
  return holdsItself(value) ? hostileValue(random) : value;
};

const holdsItself = (value: Json): boolean => {
  try {
    JSON.stringify(value);
    return false;
  } catch {
    return true;
  }
};

const NOISE = ['{', '}', '"', '[', ',', ':', '\\', '\u0000', '\ufeff', '1e999', '/*', 'undefined', '\\ud800'];

/** The text of a body with something wrong that no JSON writer would write. */
export const brokenText = (text: string, random: Random): string => {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + random.pick(NOISE) + text.slice(at);
    case 2:
      return text.slice(0, at) + text.slice(at + 1);
    case 3:
      return text.replace('{', `{"originator_proposal_code":1,`);
    case 4:
      return text.replaceAll(/\d+/g, (digits) =>
        random.chance(0.2) ? `${digits}e${random.below(400)}` : digits,
      );
    default:
      return `${text}${random.pick(NOISE)}`;
  }
};
