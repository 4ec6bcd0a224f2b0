#!/usr/bin/env node
// What `npx mail4agent` starts: finds the program of this system and becomes it, or where Node cannot, stands for it. Plain Node.
const { spawn } = require('node:child_process')
const { constants } = require('node:os')

/** The C library that this Node runs on; the other one's package may be there too, in a shared node_modules. */
function packages() {
  const plain = `@mail4agent/${process.platform}-${process.arch}`
  if (process.platform !== 'linux') return [plain]
  process.report.excludeNetwork = true // else the report asks for the names of all hosts that we speak to
  const isGlibc = Boolean(process.report.getReport().header.glibcVersionRuntime)
  return isGlibc ? [plain] : [`${plain}-musl`]
}

function program(names) {
  const file = process.platform === 'win32' ? 'mail4agent.exe' : 'mail4agent'
  for (const name of names) {
    try {
      return require.resolve(`${name}/bin/${file}`)
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return null
}

function missing(names) {
  const { version, optionalDependencies = {} } = require('./package.json')
  const [name] = names
  const why = Object.hasOwn(optionalDependencies, name)
    ? `the package ${name} is not installed`
    : `there is no mail4agent for ${process.platform} ${process.arch}`
  const hint = Object.hasOwn(optionalDependencies, name)
    ? `npm install ${name}@${version}\n     (npm leaves it out with --omit=optional or --no-optional, and when a lock file of another system is used)`
    : `these are there: ${Object.keys(optionalDependencies).join(' ')}`
  process.stderr.write(`mail4agent: ${why}\ntry: ${hint}\n`)
  return 1
}

function run(path, words) {
  // The very process becomes the program: signals, terminal and exit code are its own. Node 22.15 and later, not Windows.
  if (typeof process.execve === 'function' && process.platform !== 'win32') process.execve(path, [path, ...words])
  const child = spawn(path, words, { stdio: 'inherit', windowsHide: false })
  // Ctrl-C reaches the whole group of a terminal, the program too: handed on, it would come twice and end it at once.
  const fromTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGBREAK']) {
    if (!(signal in constants.signals)) continue
    const byTerminal = ['SIGINT', 'SIGQUIT', 'SIGBREAK'].includes(signal) && fromTerminal
    process.on(signal, () => byTerminal || child.kill(signal))
  }
  child.on('error', (error) => {
    process.stderr.write(`mail4agent: ${path} cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal) // whoever started us sees how it ended
  })
}

const names = packages()
const path = program(names)
if (path === null) process.exitCode = missing(names)
else run(path, process.argv.slice(2))
