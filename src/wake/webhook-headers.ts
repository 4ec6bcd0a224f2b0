// The headers that a routine knows its owner by: both, since some look at one and some at the other.

export const webhookHeaders = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}`, 'x-automation-key': key }
