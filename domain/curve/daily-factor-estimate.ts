/** What falls due, in cents, a number of whole days after the issue. */
export interface Flow {
  readonly days: number;
  readonly faceValue: number;
}

const MAX_STEPS = 1_000;
/** Well above the noise of the logarithms, or the steps would never end; the one just made has squared it away. */
const CLOSE_ENOUGH = 1e-12;

interface Point {
  readonly value: number;
  readonly slope: number;
}

/** ln(sum of faces * e^(x * days)) and its slope, shifted by the largest exponent so that nothing overflows. */
const logOfFaces = (flows: readonly Flow[], x: number): Point => {
  const exponents = flows.map((flow) => Math.log(flow.faceValue) + x * flow.days);
  const shift = exponents.reduce((a, b) => Math.max(a, b), -Infinity);
  let sum = 0;
  let weighted = 0;
  flows.forEach(({ days }, i) => {
    const term = Math.exp((exponents[i] ?? -Infinity) - shift);
    sum += term;
    weighted += term * days;
  });
  return { value: shift + Math.log(sum), slope: weighted / sum };
};

/**
 * The daily factor to about 14 digits. In x = ln v the equation is convex and its slope lies between the shortest and the
 * longest term, so Newton's steps cannot diverge, however far the price stands from the faces.
 */
export const estimateDailyFactor = (acquisitionValue: number, flows: readonly Flow[]): number => {
  const target = Math.log(acquisitionValue);
  let x = 0;
  for (let i = 0; i < MAX_STEPS; i += 1) {
    const { value, slope } = logOfFaces(flows, x);
    const step = (value - target) / slope;
    x -= step;
    if (Math.abs(step) <= CLOSE_ENOUGH / slope) break;
  }
  return Math.exp(x);
};
