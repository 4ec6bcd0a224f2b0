// Takes all descriptors of its own process, and tells what attestation makes of that.
import { closeSync, openSync } from 'node:fs'
import { shortage } from '../../../src/attest/linux/descriptors.ts'
import { HolderScan } from '../../../src/attest/linux/holders.ts'
import { readMachine } from '../../../src/attest/linux/machine.ts'
import { PinTable } from '../../../src/attest/linux/pin-table.ts'

const table = new PinTable(readMachine(), 8)
const scan = new HolderScan()
const parent = table.pin(process.ppid)
const self = table.pin(process.pid)
if (parent === null || self === null) throw new Error('both run')
const { process: facts } = parent
const taken: number[] = []
const takeAll = () => {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {}
}
takeAll()
const short = shortage()
const { complete, errno } = scan.run([1])
takeAll() // what the search gave back
const again = table.pin(1) !== null && (parent.closed || self.closed)
takeAll()
const alive = table.isAlive(facts)
for (const fd of taken) closeSync(fd)
process.stdout.write(JSON.stringify({ short, scan: { complete, errno }, alive, again, after: shortage() }))
