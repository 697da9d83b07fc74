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
const logOfFaces = (flows: readonly Flow[], logs: Float64Array, x: number): Point => {
  let shift = -Infinity;
  for (let i = 0; i < flows.length; i += 1) shift = Math.max(shift, logs[i]! + x * flows[i]!.days);
  let sum = 0;
  let weighted = 0;
  for (let i = 0; i < flows.length; i += 1) {
    const { days } = flows[i]!;
    const term = Math.exp(logs[i]! + x * days - shift);
    sum += term;
    weighted += term * days;
  }
  return { value: shift + Math.log(sum), slope: weighted / sum };
};

const logsOf = (flows: readonly Flow[]): Float64Array =>
  Float64Array.from(flows, ({ faceValue }) => Math.log(faceValue));

/** The days to the faces, each weighed with its value at this factor: the slope of the logarithms, to about 12 digits. */
export const meanDays = (factor: number, flows: readonly Flow[]): number =>
  logOfFaces(flows, logsOf(flows), Math.log(factor)).slope;

/**
 * The daily factor to about 14 digits, and the mean days there. In x = ln v the equation is convex and its slope lies between the
 * shortest and the longest term, so Newton's steps cannot diverge, however far the price stands from the faces.
 */
export const estimateDailyFactor = (
  acquisitionValue: number,
  flows: readonly Flow[],
): { readonly factor: number; readonly meanDays: number } => {
  const target = Math.log(acquisitionValue);
  const logs = logsOf(flows);
  let x = 0;
  let days = 1;
  for (let i = 0; i < MAX_STEPS; i += 1) {
    const { value, slope } = logOfFaces(flows, logs, x);
    const step = (value - target) / slope;
    x -= step;
    days = slope;
    if (Math.abs(step) <= CLOSE_ENOUGH / slope) break;
  }
  return { factor: Math.exp(x), meanDays: days };
};
