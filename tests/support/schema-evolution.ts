type Json = ReturnType<typeof JSON.parse>;

/** Who writes what the schema describes: a reader has to bear all that we send, we have to bear all that others send. */
export type Direction = 'sent' | 'received';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);
const missing = (from: unknown, to: unknown): string[] => {
  const known = list(to);
  return list(from).filter((one) => !known.includes(one));
};

const BOUNDS = ['minLength', 'minItems', 'minimum', 'maxLength', 'maxItems', 'maximum'];
/** What no change can leave compatible in both directions, so it has to stay as it is. */
const FIXED = ['$ref', 'type', 'const', 'format', 'pattern', 'multipleOf', 'exclusiveMinimum'];

const requiredChanges = (before: Json, after: Json, direction: Direction): string[] => {
  const [lost, added] = [missing(before.required, after.required), missing(after.required, before.required)];
  // What we promised to send stays promised; what others may leave out stays optional.
  return direction === 'sent'
    ? lost.map((field) => `${field} is not promised any more`)
    : added.map((field) => `${field} became required`);
};

const enumChanges = (before: Json, after: Json, direction: Direction): string[] => {
  if (before.enum === undefined && after.enum === undefined) return [];
  if (before.enum === undefined) return ['values became limited'];
  const [lost, added] = [missing(before.enum, after.enum), missing(after.enum, before.enum)];
  return direction === 'sent'
    ? added.map((value) => `may now be ${value}`)
    : lost.map((value) => `may not be ${value} any more`);
};

const boundChanges = (before: Json, after: Json, direction: Direction): string[] =>
  BOUNDS.filter((bound) => {
    const [was, is] = [before[bound], after[bound]];
    if (was === is) return false;
    const wider = bound.startsWith('max') ? is === undefined || is > was : is === undefined || is < was;
    return wider === (direction === 'sent');
  }).map((bound) => `${bound} was ${before[bound]}, is ${after[bound]}`);

/** Every way in which the later schema breaks those who know the earlier one, each with its place. */
export const breakingChanges = (before: Json, after: Json, direction: Direction, place = ''): string[] => {
  if (after === undefined) return [`${place}: removed`];
  const here = [
    ...FIXED.filter((keyword) => JSON.stringify(before[keyword]) !== JSON.stringify(after[keyword])).map(
      (keyword) => `${keyword} was ${JSON.stringify(before[keyword])}, is ${JSON.stringify(after[keyword])}`,
    ),
    ...requiredChanges(before, after, direction),
    ...enumChanges(before, after, direction),
    ...boundChanges(before, after, direction),
  ].map((change) => `${place}: ${change}`);
  const inner = Object.entries<Json>(before.properties ?? {}).flatMap(([name, property]) =>
    breakingChanges(property, after.properties?.[name], direction, `${place}.${name}`),
  );
  const parts = ['items', 'if', 'then', 'else', 'not'].flatMap((keyword) =>
    before[keyword] ? breakingChanges(before[keyword], after[keyword], direction, `${place}/${keyword}`) : [],
  );
  const all = ((before.allOf ?? []) as Json[]).flatMap((part, i) =>
    breakingChanges(part, after.allOf?.[i], direction, `${place}/allOf/${i}`),
  );
  return [...here, ...inner, ...parts, ...all];
};
