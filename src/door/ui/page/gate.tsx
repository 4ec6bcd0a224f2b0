// What is shown without a login: why there is none, and how to get a link.
import { useFollowed } from './emitter.ts'
import { entering, reason } from './login.ts'
import { Title } from './parts.tsx'

export function Gate() {
  const why = useFollowed(reason)
  const busy = useFollowed(entering)
  return (
    <main id="main" class="gate">
      <p class="brand">mail4agent</p>
      <Title text={busy ? 'Logging in…' : 'Log in'} />
      {!busy && (
        <>
          {why && (
            <p class="trouble" role="alert">
              {why}
            </p>
          )}
          <p>Ask for a link in a terminal of this machine, and open it here within a minute. It works once.</p>
          <pre>
            <code>mail4agent ui</code>
          </pre>
        </>
      )}
    </main>
  )
}
