// What sending has in common, for new letters and for replies: the keys, and what each recipient's result was.
import type { SendAnswer } from '../../../wire/answers.ts'
import { to } from './router.ts'
import { Line, short } from './text.tsx'

/** Ctrl or Command with Enter sends. */
export function sendOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  if (event.target instanceof HTMLTextAreaElement) event.target.form?.requestSubmit()
}

export function Results({ answer }: { answer: SendAnswer }) {
  return (
    <div class="results" role="status">
      <p>
        <a href={to('letter', [answer.message_id])}>Sent</a>
        {answer.duplicate && ' before: this is that letter'}
        {answer.closed !== undefined && ', and the letter it answers is closed'}
      </p>
      <ul class="plain">
        {answer.results
          .filter((result) => !result.ok || result.warning !== undefined)
          .map((result) => (
            <li key={result.to_text} class={result.ok ? 'note' : 'warn'}>
              <Line text={short(result.to_text)} />: {result.warning ?? result.refusal?.message}
            </li>
          ))}
      </ul>
    </div>
  )
}
