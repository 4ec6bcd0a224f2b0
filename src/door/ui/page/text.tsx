// Text of mail: what cannot be seen is written out, and whatever else it holds is text and never markup.
import { Fragment } from 'preact'
import { SYSTEM } from '../../../store/people/people.ts'
import { pieces } from '../../../wire/unseen.ts'

/** One line. Isolated, so that a name in another direction does not pull its neighbours along. */
export const Line = ({ text }: { text: string }) => (
  <bdi>
    <Visible text={text} kept="" />
  </bdi>
)

/** A body: its own lines and tabs stay. */
export const Body = ({ text }: { text: string }) => (
  <div class="body" dir="auto">
    <Visible text={text.replaceAll('\r\n', '\n')} kept={'\n\t'} />
  </div>
)

function Visible({ text, kept }: { text: string; kept: string }) {
  const found = pieces(text, kept)
  if (found.length === 1 && found[0]?.unseen === false) return <>{text}</>
  return (
    <>
      {found.map((piece, at) => {
        const key = `${at}`
        if (!piece.unseen) return <Fragment key={key}>{piece.text}</Fragment>
        return (
          <span key={key} class="unseen" title="a character that cannot be seen">
            {piece.text}
          </span>
        )
      })}
    </>
  )
}

/** `claude/s-7f3a91c0` of a whole address. */
export const short = (address: string): string => address.replace(/(\/s-[0-9a-f]{8})[0-9a-f]+$/, '$1')

/** Did the mailbox itself write it? Nobody else can have that name, and it has no sessions to look at. */
export const isOurs = (address: string): boolean => address.split('/')[0] === SYSTEM

/** As `short`; of the mailbox itself the name. */
export const shortSender = (address: string): string => (isOurs(address) ? SYSTEM : short(address))
