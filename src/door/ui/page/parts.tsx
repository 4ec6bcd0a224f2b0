// Small pieces that every view is made of: headings, states, troubles, empty lists.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Refused } from './api.ts'

/** The heading of a view. It takes the focus, so that the keyboard and a screen reader begin there. */
export function Title({ text, children }: { text: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${text} · mail4agent`
    heading.current?.focus({ preventScroll: true })
  }, [text])
  return (
    <div class="title">
      <h1 tabIndex={-1} ref={heading}>
        {text}
      </h1>
      {children}
    </div>
  )
}

export const Trouble = ({ error }: { error: Refused | null }) =>
  error && (
    <p class="trouble" role="alert">
      <strong>{error.message}</strong> {error.hint}
    </p>
  )

export const State = ({ state }: { state: string }) => <span class={`chip ${state}`}>{state}</span>

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

export const Waiting = () => <p class="empty reading">Reading…</p>

/** Views of one thing: `aria-current` says which one is shown. */
export const Tabs = ({ label, tabs, now }: { label: string; tabs: readonly [string, string][]; now: string }) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([name, href]) => (
      <a key={name} class="tab" href={href} aria-current={name === now ? 'page' : undefined}>
        {name}
      </a>
    ))}
  </nav>
)
