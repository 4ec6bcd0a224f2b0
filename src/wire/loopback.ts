// Which host names of a URL mean this machine and nothing else.

/** As `URL.hostname` has them. */
export const isLoopbackHost = (host: string): boolean =>
  host === '127.0.0.1' || host === 'localhost' || host === '[::1]'
