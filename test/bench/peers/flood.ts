// A program that floods: so many connections, each asking again as soon as it has an answer, whatever that says.
import { HTTP } from '../http.ts'
import { connect } from '../wire.ts'

const [, , port, connections, encoded] = process.argv
const request = Buffer.from(encoded ?? '', 'base64')
for (let i = 0; i < Number(connections); i++) {
  const connection = await connect(Number(port), HTTP, () => connection.send(request))
  connection.send(request)
}
process.stdout.write(`${process.pid}\n`)
