// Names made of display names: transliterated, then the slug rule of the hosts, so that a name, a routine and its folder are one word.

/** Russian, and what Ukrainian and Belarusian have beside it; hard and soft signs are nothing. */
const LATIN: Readonly<Record<string, string>> = {
  а: 'a',
  б: 'b',
  в: 'v',
  г: 'g',
  д: 'd',
  е: 'e',
  ё: 'yo',
  ж: 'zh',
  з: 'z',
  и: 'i',
  й: 'i',
  к: 'k',
  л: 'l',
  м: 'm',
  н: 'n',
  о: 'o',
  п: 'p',
  р: 'r',
  с: 's',
  т: 't',
  у: 'u',
  ф: 'f',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  ш: 'sh',
  щ: 'shch',
  ъ: '',
  ы: 'y',
  ь: '',
  э: 'e',
  ю: 'yu',
  я: 'ya',
  є: 'ye',
  і: 'i',
  ї: 'yi',
  ґ: 'g',
  ў: 'u',
}
const NICK = 32
const FOLDER = 48

/** At most 32 of `[a-z0-9-]`; null where nothing is left of the name. */
export function nickFromDisplayName(name: string): string | null {
  const latin = [...name.normalize('NFC').toLowerCase()].map((letter) => LATIN[letter] ?? letter).join('')
  const nick = slug(latin, NICK)
  return nick === '' ? null : nick
}

/** A nick that nobody has yet: `-2`, `-3` … within the same length. */
export function freeNick(nick: string, taken: ReadonlySet<string>): string {
  if (!taken.has(nick)) return nick
  for (let number = 2; ; number++) {
    const ending = `-${number}`
    const next = `${nick.slice(0, NICK - ending.length).replace(/-+$/, '')}${ending}`
    if (!taken.has(next)) return next
  }
}

/** The folder that hosts of routines give one of that name; null where nothing is left of it. */
export function folderIdOf(name: string): string | null {
  const folder = slug(name.toLowerCase(), FOLDER)
  return folder === '' ? null : folder
}

const trimmed = (text: string): string => text.replaceAll(/^-+|-+$/g, '')
const slug = (text: string, most: number): string =>
  trimmed(trimmed(text.replaceAll(/[^a-z0-9]+/g, '-')).slice(0, most))
