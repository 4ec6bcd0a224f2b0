// Which view is shown: the fragment of the address, `#/mail/claude?state=closed`, so that links, history and tabs work.
import { Followed } from './emitter.ts'

export type Place = { view: string; words: readonly string[]; query: URLSearchParams }

/** A login link is no place: login.ts takes it. */
const isLink = (): boolean => location.hash.startsWith('#login=')

function read(): Place {
  const [path = '', query = ''] = (isLink() ? '' : location.hash).replace(/^#\/?/, '').split('?')
  const [view = '', ...words] = path.split('/').map(word)
  return { view, words, query: new URLSearchParams(query) }
}

/** An address that somebody typed may hold a percent sign that means nothing. */
function word(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const place = new Followed(read())

window.addEventListener('hashchange', () => {
  if (isLink()) return
  window.scrollTo(0, 0)
  place.set(read())
})

/** The address of a view. */
export function to(view: string, words: readonly string[] = [], query: Record<string, string> = {}): string {
  const path = [view, ...words].map(encodeURIComponent).join('/')
  const text = new URLSearchParams(query).toString()
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

export function go(address: string): void {
  location.hash = address
}
