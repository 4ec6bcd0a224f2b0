// The thread that searches the whole machine for the holders of sockets. An entry point of the build of its own.
import { parentPort } from 'node:worker_threads'
import { HolderScan } from './linux/holders.ts'

const scan = new HolderScan()

parentPort?.on('message', (inodes: number[]) => parentPort?.postMessage(scan.run(inodes)))
