// Keys of the page, and the dialog that explains them. Single letters can be switched off (WCAG 2.2, 2.1.4).
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Way } from './frame.tsx'
import { go, to } from './router.ts'

const OFF = 'm4a.keys.off'

type Props = { ways: readonly Way[]; open: boolean; setOpen: (open: boolean) => void }

export function Keys({ ways, open, setOpen }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [off, setOff] = useState(() => localStorage.getItem(OFF) !== null)
  useEffect(() => {
    if (open) dialog.current?.showModal()
    else dialog.current?.close()
  }, [open])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (off || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || dialog.current?.open)
        return
      if (act(event.key, ways, () => setOpen(true))) event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [off, ways, setOpen])
  const toggle = (event: { currentTarget: HTMLInputElement }) => {
    const on = event.currentTarget.checked
    if (on) localStorage.removeItem(OFF)
    else localStorage.setItem(OFF, '')
    setOff(!on)
  }
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => setOpen(false)}>
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {ways.map(({ name }, at) => (
          <Key key={name} press={String(at + 1)} does={name} />
        ))}
        <Key press="j, k" does="next and previous letter" />
        <Key press="Enter" does="open the letter" />
        <Key press="r" does="reply" />
        <Key press="w" does="write" />
        <Key press="/" does="search" />
        <Key press="Ctrl Enter" does="send" />
        <Key press="?" does="this list" />
      </dl>
      <label class="check">
        <input type="checkbox" checked={!off} onChange={toggle} />
        single keys are on
      </label>
      <form method="dialog">
        <button type="submit" class="primary">
          Close
        </button>
      </form>
    </dialog>
  )
}

const Key = ({ press, does }: { press: string; does: string }) => (
  <div>
    <dt>
      <kbd>{press}</kbd>
    </dt>
    <dd>{does}</dd>
  </div>
)

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select')

/** True where the key meant something. */
function act(key: string, ways: readonly Way[], help: () => void): boolean {
  const way = ways[Number(key) - 1]
  if (way) go(way.href)
  else if (key === '?') help()
  else if (key === '/') go(to('search'))
  else if (key === 'w') go(to('write'))
  else if (key === 'r') document.getElementById('reply-body')?.focus()
  else if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1)
  else return false
  return true
}

/** Moves the focus along the letters of a list. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>('a.letter-row')]
  const at = rows.indexOf(document.activeElement as HTMLAnchorElement)
  const next = rows[at < 0 ? (by === 1 ? 0 : rows.length - 1) : at + by]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
