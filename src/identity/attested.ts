// A verdict of attestation that names nobody, as the refusal that a caller gets.
import type { AttestRefusal } from '../attest/attestor.ts'
import { Refusal } from '../wire/refusal.ts'

const MESSAGES: Readonly<Record<AttestRefusal['kind'], string>> = {
  peer_gone: 'the process that called has closed its connection or ended',
  other_user: 'the process that called runs as another user',
  unreadable: 'the process that called may not be looked at',
  no_holder: 'no process of this machine holds the connection',
  shared_connection: 'more than one process holds the connection',
  unsupported_platform: 'this platform cannot tell who calls',
}

/** errno(3): the process, or the whole machine, has no descriptor left. */
const EMFILE = 24
const ENFILE = 23

/** `seen` says what was found; it holds no argument and no environment of anybody. */
export function unattested({ kind, seen }: AttestRefusal): Refusal {
  if (seen.scan === 'failed' && (seen.errno === EMFILE || seen.errno === ENFILE))
    return new Refusal(
      kind,
      'the mailbox lacks file descriptors',
      { seen },
      'raise the limit of the mailbox: LimitNOFILE of its service, or ulimit -n; close connections that are not used',
    )
  return new Refusal(kind, MESSAGES[kind], { seen })
}
