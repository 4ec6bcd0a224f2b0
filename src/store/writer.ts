// The one writer: runs a batch of jobs as one transaction. A job that fails by itself never fails its batch.
import type { Database } from 'bun:sqlite'
import { dispatchJobs } from './dispatch/jobs.ts'
import { claimer } from './jobs/claim.ts'
import { Context } from './jobs/context.ts'
import { importer } from './jobs/import.ts'
import type { Job, Outcome } from './jobs/job.ts'
import { notifyJob } from './jobs/notify.ts'
import { opener } from './jobs/open.ts'
import { peopleJobs } from './jobs/people.ts'
import { registryJobs } from './jobs/registry.ts'
import { reopener } from './jobs/reopen.ts'
import { retainer } from './jobs/retain.ts'
import { sender } from './jobs/send.ts'
import { sessionJobs } from './jobs/sessions.ts'
import { settler } from './jobs/settle.ts'
import { wakeJobs } from './wake/jobs.ts'

export class Writer {
  readonly #context: Context
  readonly #run: (job: Job) => Outcome
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
    this.#context = new Context(db)
    this.#run = runner(this.#context)
  }

  /**
   * One commit for all jobs, in order; returns an outcome for each once it is on the disk.
   * When the batch fails (a full disk, one bad job) each job is tried in a transaction of its own.
   */
  run(jobs: readonly Job[]): Outcome[] {
    try {
      return this.#commit(jobs)
    } catch (error) {
      if (jobs.length === 1) return [{ failed: reason(error) }]
      return jobs.flatMap((job) => this.run([job]))
    }
  }

  #commit(jobs: readonly Job[]): Outcome[] {
    this.#db.run('BEGIN IMMEDIATE')
    try {
      const outcomes = jobs.map(this.#run)
      this.#context.flush()
      this.#db.run('COMMIT')
      this.#context.committed()
      return outcomes
    } catch (error) {
      this.#context.forget()
      if (this.#db.inTransaction) this.#db.run('ROLLBACK')
      throw error
    }
  }
}

/** SQLite's own words; they name tables and disks, never mail. */
const reason = (error: unknown): string => (error instanceof Error ? error.message : 'unknown failure')

function runner(context: Context): (job: Job) => Outcome {
  const send = sender(context)
  const settle = settler(context)
  const reopen = reopener(context)
  const claim = claimer(context)
  const seen = opener(context)
  const sessions = sessionJobs(context)
  const registry = registryJobs(context)
  const retention = retainer(context)
  const imported = importer(context)
  const people = peopleJobs(context)
  const notify = notifyJob(context)
  const dispatches = dispatchJobs(context)
  const wakes = wakeJobs(context)
  return (job) => {
    switch (job.k) {
      case 'send':
        return send(job)
      case 'settle':
        return settle(job)
      case 'reopen':
        return reopen(job)
      case 'claim':
        return claim(job)
      case 'open':
        return seen.open(job)
      case 'openUpTo':
        return seen.openUpTo(job)
      case 'notified':
        return seen.notified(job)
      case 'addSession':
        return sessions.addSession(job)
      case 'touch':
        return sessions.touch(job)
      case 'declare':
        return sessions.declare(job)
      case 'endSession':
        return sessions.endSession(job)
      case 'release':
        return sessions.release(job)
      case 'addAccount':
        return registry.addAccount(job)
      case 'changeAccount':
        return registry.changeAccount(job)
      case 'removeAccount':
        return registry.removeAccount(job)
      case 'addRoom':
        return registry.addRoom(job)
      case 'removeRoom':
        return registry.removeRoom(job)
      case 'join':
        return registry.join(job)
      case 'leave':
        return registry.leave(job)
      case 'setListener':
        return registry.setListener(job)
      case 'wakePolicy':
      case 'wakeLogged':
      case 'wakeDue':
      case 'wakeNotDue':
        return wakes(job)
      case 'clearListener':
        return registry.clearListener(job)
      case 'setCursor':
        return registry.setCursor(job)
      case 'retain':
        return retention.retain(job)
      case 'forgetEvents':
        return retention.forgetEvents(job)
      case 'forgetKeys':
        return retention.forgetKeys(job)
      case 'import':
        return imported(job)
      case 'setAlias':
        return people.setAlias(job)
      case 'setPrivacy':
        return people.setPrivacy(job)
      case 'meet':
        return people.meet(job)
      case 'raiseFault':
        return people.raiseFault(job)
      case 'clearFault':
        return people.clearFault(job)
      case 'system':
        return people.system(job)
      case 'notify':
        return notify(job)
      case 'probe':
        return registry.probe(job)
      default:
        return dispatches(job)
    }
  }
}
