/** Of every answer, names and values in turns; beside them a policy of what its contents may do. */
export const SECURITY_HEADERS = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
];

/** Answers are data: a browser must not run anything in them or show them in a frame. */
export const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
