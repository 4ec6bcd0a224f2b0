// Property lists as launchd reads them: plist(5). Only what a job needs: texts, numbers, switches, lists, dictionaries.

export type Plist = string | number | boolean | readonly Plist[] | { readonly [key: string]: Plist }

/** A whole document. @throws never; control characters that XML 1.0 does not know are left out */
export const plistText = (value: Plist): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${element(value, '')}
</plist>
`

function element(value: Plist, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${xmlText(value)}</string>`
  if (typeof value === 'number') return `${indent}<integer>${Math.trunc(value)}</integer>`
  if (typeof value === 'boolean') return `${indent}<${value}/>`
  if (isList(value))
    return [`${indent}<array>`, ...value.map((one) => element(one, `${indent}  `)), `${indent}</array>`].join('\n')
  const entries = Object.entries(value).map(
    ([key, one]) => `${indent}  <key>${xmlText(key)}</key>\n${element(one, `${indent}  `)}`,
  )
  return [`${indent}<dict>`, ...entries, `${indent}</dict>`].join('\n')
}

const isList = (value: readonly Plist[] | { readonly [key: string]: Plist }): value is readonly Plist[] =>
  Array.isArray(value)

/** Text of an element: XML 1.0 §2.2 and §2.4. */
export const xmlText = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
