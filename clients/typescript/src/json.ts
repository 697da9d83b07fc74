/**
 * The JSON of what is sent.
 * @throws TypeError for a number that JSON does not have: it would become null, and a value that was meant as one that was left out
 */
export const jsonOf = (data: object): string =>
  JSON.stringify(data, (name, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new TypeError(`${name} is ${value}, which is no number that can be sent`);
    }
    return value;
  });
