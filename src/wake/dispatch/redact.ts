// Output of agents without secrets, before it is shown or mailed.

/** Forms of usual secrets: keys of model providers and forges, bearers, long hex, private keys. */
const FORMS = [
  /\b(?:(?:sk|pk|rk|xox[abps]|gh[pousr]|glpat)[-_]|AKIA|AIza)[-_A-Za-z0-9]{12,}/g,
  /\b(bearer\s+)[A-Za-z0-9._~+/=-]{12,}/gi,
  /\b[0-9a-f]{64}\b/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]

export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, '[secret]')
  for (const form of FORMS) clean = clean.replaceAll(form, '[secret]')
  return clean
}
