// The letters of one account: not closed, closed, sent. Of other accounts for operators, who change nothing by looking.
import { admin, mail } from './api.ts'
import { entriesOf, rowsOf } from './entries.ts'
import { LetterList, type ReadPage } from './letter-list.tsx'
import { useMe } from './me.ts'
import { Tabs, Title } from './parts.tsx'
import { to } from './router.ts'

const BYTES = 200_000

const EMPTY: Readonly<Record<string, string>> = {
  open: 'Nothing here that is not closed.',
  closed: 'Nothing closed yet.',
  sent: 'Nothing sent yet.',
}

export function Mailbox({ account, state }: { account: string; state: string }) {
  const { operator, account: own, writes } = useMe()
  const which = state === 'closed' || state === 'sent' ? state : 'open'
  const mine = account.toLowerCase() === own.toLowerCase()
  const read = operator ? operatorRead(account, which) : ownRead(which)
  const tabs = ['open', 'closed', 'sent'].map((name): [string, string] => [
    name,
    to('mail', [account], { state: name }),
  ])
  return (
    <>
      <Title text={mine ? 'Your mail' : `Mail of ${account}`}>
        {writes && !mine && (
          <a class="button" href={to('write', [], { to: account })}>
            Write to {account}
          </a>
        )}
      </Title>
      <Tabs label="Which letters" tabs={tabs} now={which} />
      <LetterList
        name={`mail ${account} ${which}`}
        read={read}
        empty={EMPTY[which] ?? ''}
        newestFirst={operator || which === 'sent'}
      />
    </>
  )
}

function operatorRead(account: string, which: string): ReadPage {
  return async (cursor, limit) =>
    entriesOf(
      which === 'sent'
        ? await admin('traffic', { from: account, cursor, limit })
        : await admin('mailbox', { account, state: which === 'closed' ? 'closed' : 'open', cursor, limit }),
    )
}

function ownRead(which: string): ReadPage {
  return async (cursor, limit) =>
    rowsOf(
      which === 'sent'
        ? await mail('sent', { cursor, limit, max_bytes: BYTES })
        : await mail('inbox', { state: which === 'closed' ? 'closed' : 'open', cursor, limit, max_bytes: BYTES }),
    )
}

/** Everything that was sent, by whomever. */
export const Traffic = () => (
  <>
    <Title text="All mail" />
    <LetterList
      name="traffic"
      read={async (cursor, limit) => entriesOf(await admin('traffic', { cursor, limit }))}
      empty="Nothing was sent yet."
    />
  </>
)
