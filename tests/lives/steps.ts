import fc from 'fast-check';

/*
 * What may happen in a life, as plain numbers: which operation, which installment and which value they mean is found out when the
 * step is taken, from what there is then. So a life stays a life when steps are left out, and shrinks.
 */
const pick = fc.nat({ max: 11 });
/** Of a few cents, too, where rounding is as large as what is owed. */
const parts = [4, 300_000, 300_000, 300_000].map((max) =>
  fc.array(fc.record({ gap: fc.integer({ min: 0, max: 40 }), face: fc.integer({ min: 1, max }) }), {
    minLength: 1,
    maxLength: 5,
  }),
);
const schedule = fc.record({
  parts: fc.oneof(...parts),
  /** Price for the faces, per thousand. */
  price: fc.integer({ min: 700, max: 1_100 }),
});
const method = fc.constantFrom('pix', 'boleto', 'direct_debit', 'transfer', 'other');
/** Days around today; most are allowed. */
const day = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -12, max: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom(2, -900) },
);
/** Under which key: a new one, or one that was used before. */
const key = fc.oneof({ weight: 9, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: pick });

const kinds = {
  assign: fc.record({
    kind: fc.constant('assign' as const),
    schedule,
    issued: fc.integer({ min: 0, max: 60 }),
    fund: fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 1 }) }, { weight: 1, arbitrary: fc.constant(2) }),
    person: fc.nat({ max: 2 }),
    papers: fc.integer({ min: 1, max: 2 }),
    code: key,
    flaw: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  }),
  activate: fc.record({
    kind: fc.constant('activate' as const),
    op: pick,
    value: fc.nat({ max: 4 }),
    /** How many of the administrator's steps are taken. */
    steps: fc.constantFrom(3, 3, 3, 3, 2, 1),
  }),
  process: fc.record({ kind: fc.constant('process' as const), op: pick }),
  decide: fc.record({
    kind: fc.constant('decide' as const),
    op: pick,
    decision: fc.constantFrom('approve', 'reject', 'sign_term', 'disburse', 'process_repurchase'),
    value: fc.nat({ max: 4 }),
    /** Of a disbursed value: whether it is given a second time. */
    said: fc.constantFrom('once', 'twice', 'otherwise'),
    /** The status that it names to be made on. */
    on: fc.constantFrom('none', 'none', 'its own', 'received', 'term_signed'),
    day,
    id: key,
  }),
  settle: fc.record({
    kind: fc.constant('settle' as const),
    ...{ op: pick, part: fc.nat({ max: 5 }), day, method, key },
    value: fc.constantFrom('owed', 'owed', 'owed', 'less', 'more', 'cent'),
  }),
  prepay: fc.record({
    kind: fc.constant('prepay' as const),
    ...{ op: pick, day, method, key },
    value: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 1_200 }) },
      { weight: 1, arbitrary: fc.constant(1_000) },
    ),
    cents: fc.integer({ min: -1, max: 1 }),
    dry: fc.constantFrom(false, false, false, true),
  }),
  repurchase: fc.record({
    kind: fc.constant('repurchase' as const),
    ...{ op: pick, day: fc.oneof(fc.integer({ min: -5, max: 30 }), fc.constant(-900)), key },
    reason: fc.constantFrom('repurchase', 'integrated_repurchase', 'cession_reversal', 'resolution'),
    detail: fc.boolean(),
    value: fc.option(fc.integer({ min: 1, max: 500_000 }), { freq: 3, nil: undefined }),
    dry: fc.constantFrom(false, false, true),
  }),
  renegotiate: fc.record({
    kind: fc.constant('renegotiate' as const),
    ops: fc.uniqueArray(pick, { minLength: 1, maxLength: 3 }),
    form: fc.boolean(),
    person: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
    schedule,
    day: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: -3, max: 1 }) },
      { weight: 1, arbitrary: fc.constant(-900) },
    ),
    code: key,
    /** Whether only active operations are meant. */
    sound: fc.constantFrom(true, true, true, false),
  }),
  addFile: fc.record({
    kind: fc.constant('addFile' as const),
    op: pick,
    name: fc.nat({ max: 3 }),
    content: fc.nat({ max: 1 }),
    type: fc.constantFrom('invoice', 'invoice', 'renegotiation_signature'),
  }),
  again: fc.record({ kind: fc.constant('again' as const), request: fc.nat({ max: 30 }) }),
  forget: fc.record({
    kind: fc.constant('forget' as const),
    person: fc.nat({ max: 2 }),
    includingOpen: fc.boolean(),
  }),
  read: fc.record({ kind: fc.constant('read' as const), op: pick, elsewhere: fc.boolean() }),
  list: fc.record({
    kind: fc.constant('list' as const),
    status: fc.option(
      fc.constantFrom('active', 'settled', 'renegotiated', 'repurchase_pending', 'received', 'rejected'),
      { nil: undefined },
    ),
    fund: fc.option(fc.nat({ max: 1 }), { nil: undefined }),
  }),
  restart: fc.record({ kind: fc.constant('restart' as const) }),
  /** What a fund asks two people for from here on. */
  rule: fc.record({
    kind: fc.constant('rule' as const),
    fund: fc.nat({ max: 1 }),
    decisions: fc.subarray(['approve', 'reject', 'sign_term', 'disburse', 'process_repurchase'] as const),
    from: fc.constantFrom(0, 0, 100_000, 200_000),
    by: fc.nat({ max: 3 }),
  }),
  second: fc.record({
    kind: fc.constant('second' as const),
    second: fc.constantFrom('confirm', 'confirm', 'confirm', 'confirm', 'withdraw'),
    first: pick,
    by: fc.nat({ max: 3 }),
  }),
} as const;

type StepKind = keyof typeof kinds;
export type Step = {
  [Kind in StepKind]: (typeof kinds)[Kind] extends fc.Arbitrary<infer Value> ? Value : never;
}[StepKind];
export type StepOf<Kind extends StepKind> = Extract<Step, { readonly kind: Kind }>;

/** In 1,000; restarts are rare because they cost as much as a hundred other steps. */
const WEIGHTS: Readonly<Record<StepKind, number>> = {
  ...{
    assign: 110,
    activate: 170,
    decide: 110,
    process: 40,
    settle: 200,
    prepay: 90,
    repurchase: 60,
    renegotiate: 70,
  },
  ...{ addFile: 30, again: 60, forget: 15, read: 25, list: 18, restart: 2 },
  // Of lives at desks with two people alone.
  ...{ rule: 0, second: 0 },
};

const step: fc.Arbitrary<Step> = fc.oneof(
  ...(Object.keys(kinds) as StepKind[]).map((kind) => ({
    weight: WEIGHTS[kind],
    arbitrary: kinds[kind] as fc.Arbitrary<Step>,
  })),
);

/** Days that pass before each part of a life; the same for all, because lives share the clock of the service they live in. */
export const DAYS_BEFORE = [0, 3, 17, 40, 120] as const;

/** A list of steps for each stretch between two moves of the clock. */
export interface Life {
  readonly parts: readonly (readonly Step[])[];
}

const beginning = fc
  .tuple(
    fc.array(kinds.assign, { minLength: 2, maxLength: 3 }),
    fc.array(kinds.activate, { minLength: 1, maxLength: 3 }),
  )
  .map(([assigned, activated]): readonly Step[] => [...assigned, ...activated]);

export const lives: fc.Arbitrary<Life> = fc
  .tuple(
    beginning,
    fc.tuple(...DAYS_BEFORE.map(() => fc.array(step, { minLength: 0, maxLength: 9, size: 'max' }))),
  )
  .map(([first, [then = [], ...parts]]) => ({ parts: [[...first, ...then], ...parts] }));

/** Rules at first, and then what people do to what awaits, in between the other steps. */
const atDesks = fc.record({
  rules: fc.array(kinds.rule, { minLength: 1, maxLength: 2 }),
  others: fc.array(
    fc.record({
      part: fc.nat({ max: DAYS_BEFORE.length - 1 }),
      place: fc.nat({ max: 9 }),
      step: fc.oneof(
        { weight: 14, arbitrary: kinds.second },
        { weight: 5, arbitrary: kinds.activate },
        { weight: 1, arbitrary: kinds.rule },
      ),
    }),
    { minLength: 15, maxLength: 35, size: 'max' },
  ),
});

/** Two lives in three are at desks where some decisions need two people. */
export const livesAtDesks: fc.Arbitrary<Life> = fc
  .tuple(lives, fc.option(atDesks, { freq: 2, nil: undefined }))
  .map(([life, desk]) => {
    if (!desk) return life;
    const parts = life.parts.map((steps) => [...steps]);
    for (const { part, place, step: one } of desk.others) parts[part]!.splice(place, 0, one);
    parts[0]!.unshift(...desk.rules);
    return { parts };
  });
