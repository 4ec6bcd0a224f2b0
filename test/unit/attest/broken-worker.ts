// A worker that dies of its first question.
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', () => process.exit(1))
