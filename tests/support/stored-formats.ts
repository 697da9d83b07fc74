/** No process of an earlier release is about. */
export const ALONE = { forEarlierRelease: () => Promise.resolve(false) };
/** There may be one. */
export const BESIDE_EARLIER = { forEarlierRelease: () => Promise.resolve(true) };
