// A client for Decent Notes in JavaScript, without packages; for Node 18, and the ground for an extension of VS Code.
//
//     const client = new Client({ notebook: '/home/ana/Notes' })
//     await client.start()
//     const { note } = await client.request('note/create', { title: 'Shopping' })
//     const shopping = await client.open(note.id)
//     shopping.on('change', (text) => show(text)) // others have changed it
//     shopping.setText('milk\neggs')
//     await client.end()
//
// `LiveText` is the algorithm of a client, without input or output; its fields and states are those of the tables in clients/README.md.
// `Process` is JSON-RPC with one process, `Client` starts another one when it dies, `Attachment` is a note that is open.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'

const contentModified = -32801
const hashedBytes = 256 * 1024 // a longer text is checked by its size while the user types
const longestMessage = 256 * 1024 * 1024 // bytes; a longer one is none of our program's

/** An error that the server has answered; `reason` is there with code -32803. */
export class ResponseError extends Error {
  constructor({ code, message, data }) { Object.assign(super(message), { code, reason: data?.reason }) }
}

/** By what each side checks that the other one has the same text. */
const checks = {
  sha256: (text) => createHash('sha256').update(text, 'utf8').digest('hex'),
  bytes: (text) => Buffer.byteLength(text),
  lineCount: (text) => text.split('\n').length,
}

/** The lines by which one text becomes another, as `note/change` has them: those from the first number up to the second are replaced. */
export function changedLines(text, next) {
  const [old, now] = [text.split('\n'), next.split('\n')]
  const most = Math.min(old.length, now.length)
  let [head, tail] = [0, 0]
  while (head < most && old[head] === now[head]) head += 1
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1
  return [head, old.length - tail, now.slice(head, now.length - tail)]
}

/** Applies such edits, which all refer to the text before them, in order. */
export function applyLines(text, edits) {
  const [old, pieces] = [text.split('\n'), []]
  edits.forEach(([, end, now], index) => pieces.push(now, old.slice(end, edits[index + 1]?.[0])))
  return old.slice(0, edits[0]?.[0]).concat(...pieces).join('\n')
}

/** The text of an open note, and what the server knows of it. Methods may return a change to send: the parameters of `note/change`. */
export class LiveText {
  constructor({ text, rev, version, session }) {
    Object.assign(this, { text, rev, version, resumeToken: session, base: text, answered: version, whole: version })
    Object.assign(this, { needsWhole: false, isDetached: false, isHashed: true }) // the last change had the hash of the text
  }

  get hasUnsent() { return this.needsWhole || this.answered < this.version }
  get isSettled() { return !this.isDetached && !this.hasUnsent }

  /** The user's text is now this one. */
  replace(text) {
    if (/\0|\p{Surrogate}/u.test(text)) throw new Error('a note holds no U+0000 and no half of a surrogate pair')
    const lines = [changedLines(this.text, text)]
    this.text = text
    return this.#change({ lines })
  }

  sendWhole() { return this.#change({ text: this.text }) }

  /** When the typing pauses: a change of nothing, with the hash that a long text lacks. */
  confirm() {
    if (this.isHashed || this.isDetached) return undefined
    const change = this.#change({ lines: [] })
    this.isHashed = true
    return { ...change, sha256: checks.sha256(this.text) }
  }

  /** A `note/edit` has come. What does not fit is answered by the whole text. */
  takePush(push) {
    if (push.version !== this.version) return undefined // it has crossed a change; another one is coming
    if (Object.keys(checks).some((name) => name in push && push[name] !== checks[name](this.text))) return this.sendWhole()
    this.text = this.base = push.text ?? applyLines(this.text, push.lines)
    this.rev = push.rev
    return undefined
  }

  /** The change of this version was answered. */
  takeAnswer(version, error) {
    this.answered = version
    if (!error && version === this.version) this.base = this.text
    if (error && error.code !== contentModified) this.needsWhole = true
    // Otherwise the whole text was sent after this change.
    return error?.code === contentModified && version >= this.whole ? this.sendWhole() : undefined
  }

  /** The parameter `resume` of `note/open`. */
  resume() {
    Object.assign(this, { isDetached: true, answered: this.version, resumed: this.text })
    return { session: this.resumeToken, version: this.version, rev: this.rev, text: this.text, baseText: this.base }
  }

  /** The note is open again; what was typed meanwhile is sent. */
  takeResumed({ session, rev }) {
    Object.assign(this, { resumeToken: session, rev, base: this.resumed, whole: this.answered, isDetached: false, needsWhole: false })
    return this.answered === this.version ? undefined : this.sendWhole()
  }

  #change(form) {
    this.version += 1
    if (this.needsWhole || 'text' in form) [form, this.needsWhole, this.whole] = [{ text: this.text }, false, this.version]
    if (this.isDetached) return undefined
    this.isHashed = checks.bytes(this.text) <= hashedBytes
    const names = this.isHashed ? ['sha256'] : ['bytes', 'lineCount']
    return { version: this.version, rev: this.rev, ...form, ...Object.fromEntries(names.map((name) => [name, checks[name](this.text)])) }
  }
}

/** One process of the program. `notified(method, params)` gets notifications, `ended(error)` the end. */
export class Process {
  #answers = new Map()
  #lastID = 0
  #pieces = []
  #errors = ''

  constructor(words, notified, ended) {
    const child = spawn(words[0], words.slice(1), { detached: true }) // a session of its own: Ctrl-C of the terminal is not for it
    Object.assign(this, { notified, ended, child })
    child.stdin.on('error', () => {}) // the end of the process is told below
    child.stderr.on('data', (data) => { this.#errors = (this.#errors + data).slice(-2000) })
    child.stdout.on('data', (data) => this.#read(data))
    child.on('error', (error) => this.#end(error))
    child.on('close', (status, signal) => this.#end(new Error(`decent-notes ended with ${status ?? signal}: ${this.#errors.trim()}`)))
  }

  /** `then(error, result)` is called before any later message is looked at. A promise would be too late: a push may stand right behind the answer. */
  request(method, params, then) {
    if (this.lost) return then(this.lost)
    this.#answers.set(++this.#lastID, then)
    return this.notify(method, params, this.#lastID)
  }

  notify(method, params = {}, id = undefined) { this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`) }

  #end(error) {
    if (this.lost) return
    this.lost = error
    this.child.kill('SIGKILL') // two processes of one client would not know each other's changes
    for (const then of this.#answers.values()) then(error) // these may have been done, or not
    this.ended(error)
  }

  /** Takes the lines that are complete, each a message. One may be long: its pieces are joined once, when all are there. */
  #read(data) {
    for (let end = data.indexOf(10); end >= 0 && !this.lost; end = data.indexOf(10)) {
      const line = Buffer.concat([...this.#pieces.splice(0), data.subarray(0, end)]).toString('utf8')
      data = data.subarray(end + 1)
      let message
      try { message = JSON.parse(line) } catch { return this.#end(new Error(`the program does not speak the protocol: ${line.slice(0, 60)}`)) }
      this.#take(message)
    }
    this.#pieces.push(data)
    if (this.#pieces.reduce((size, piece) => size + piece.length, 0) > longestMessage) this.#end(new Error('a message without an end'))
    return undefined
  }

  #take({ id, method, params, result, error }) {
    if (method) return this.notified(method, params)
    if (id === null) return this.#end(new ResponseError(error)) // no telling which request: a mistake of this client
    const then = this.#answers.get(id)
    this.#answers.delete(id)
    return then?.(error && new ResponseError(error), result)
  }
}

/** Notes, by a process. Emits what the process notifies of, and `gone` with an error when no other process is started by itself. */
export class Client extends EventEmitter {
  #starts = []

  /** `restarts` processes in `period` milliseconds take the place of those that die. */
  constructor({ notebook, command = ['decent-notes'], restarts = 5, period = 180_000 } = {}) {
    super()
    Object.assign(this, { restarts, period, words: [...command, ...(notebook ? ['--notebook', notebook] : [])], attachments: new Set() })
  }

  /** Begins, also again after `gone`. Notes that are open are opened again. */
  async start() {
    this.process = new Process(this.words, (method, params) => this.#notified(method, params), (error) => this.#ended(error))
    this.server = await this.request('initialize', { processId: process.pid, clientInfo: { name: 'decent-notes.mjs' } })
    for (const attachment of this.attachments) attachment.resume()
  }

  request(method, params) {
    return new Promise((resolve, reject) => this.process.request(method, params, (error, result) => (error ? reject(error) : resolve(result))))
  }

  async open(note) {
    const attachment = new Attachment(this, note)
    await new Promise((resolve, reject) => attachment.open((error) => (error ? reject(error) : resolve())))
    return attachment
  }

  /** Ends the process in order. If a note has a text that the server lacks, the error has it as `text`. */
  async end() {
    for (const attachment of [...this.attachments]) await attachment.close()
    this.isLeaving = true
    await this.request('shutdown')
    this.process.notify('exit')
    this.process.child.stdin.end()
  }

  #notified(method, params) {
    for (const attachment of [...this.attachments]) attachment.take(method, params)
    this.emit(method, params)
  }

  #ended(error) {
    for (const attachment of this.attachments) attachment.detach()
    if (this.isLeaving) return
    const now = Date.now()
    this.#starts = this.#starts.filter((then) => now - then < this.period)
    if (!this.server || this.#starts.length >= this.restarts) return void this.emit('gone', error)
    this.#starts.push(now)
    this.start().catch((reason) => { if (reason instanceof ResponseError) this.emit('gone', reason) }) // the end of a process is told by itself
  }
}

/** A note that is open. Emits `change` with the text when others have changed it, `settled`, `problem` with an error, `end` with the reason. */
export class Attachment extends EventEmitter {
  constructor(client, note) { Object.assign(super(), { client, note }) }

  get text() { return this.live.text }
  setText(text) {
    if (this.ended) throw this.ended
    if (text !== this.text) this.#send(this.live.replace(text))
  }
  undo() { return this.client.request('note/undo', { attachment: this.number }) }
  redo() { return this.client.request('note/redo', { attachment: this.number }) }

  /** Waits until the server has everything, at most so many milliseconds. If it has not, the error has the text as `text`. */
  async settle(within = 30_000) {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), within)
    this.sendUnsent()
    this.#send(this.live.confirm())
    while (!this.live.isSettled && !this.ended && !limit.signal.aborted) await once(this, 'settled', limit).catch(() => {})
    clearTimeout(timer)
    if (!this.live.isSettled) throw Object.assign(this.ended ?? this.problem ?? new Error('the server does not answer'), { text: this.text })
  }

  async close() {
    try { if (!this.ended || this.live.hasUnsent) await this.settle() } finally { this.client.attachments.delete(this) }
    if (this.number !== undefined) this.client.process.request('note/close', { attachment: this.number }, () => {})
  }

  open(then, resume = undefined) {
    const process = this.client.process
    process.request('note/open', { id: this.note, mode: 'edit', push: 'lines', resume }, (error, result) => {
      if (error) return then(error)
      // Pushes for it may stand right behind this answer.
      Object.assign(this, { process, number: result.attachment, problem: undefined, live: this.live ?? new LiveText(result) })
      this.client.attachments.add(this)
      return then(undefined, result)
    })
  }

  resume() {
    if (this.ended || this.isOpening) return
    this.isOpening = true
    this.open((error, result) => {
      this.isOpening = false
      if (error) return this.#refused(error)
      this.#send(this.live.takeResumed(result))
      return this.#showSettled()
    }, this.live.resume())
  }

  detach() { Object.assign(this, { number: undefined, isOpening: false }).live.isDetached = true }

  /** Sends what the server lacks. */
  sendUnsent() {
    if (this.live.isDetached && !this.client.process.lost) this.resume()
    else if (this.live.needsWhole) this.#send(this.live.sendWhole())
  }

  take(method, params) {
    if (method === 'window/showMessage' && params.type >= 3) this.sendUnsent() // the trouble is over
    if (this.number === undefined || params.attachment !== this.number) return
    if (method === 'note/closed') this.#end(new Error(`the note was ${params.reason}`))
    if (method !== 'note/edit') return
    const { rev } = this.live
    this.#send(this.live.takePush(params))
    if (this.live.rev !== rev) this.emit('change', this.text)
  }

  #send(change) {
    if (!change) return
    const process = this.process
    process.request('note/change', { attachment: this.number, ...change }, (error) => {
      if (process !== this.process || this.live.isDetached) return
      if (error?.reason === 'reopen') return void this.resume()
      this.#send(this.live.takeAnswer(change.version, error))
      if (this.live.needsWhole) this.#refused(error)
      this.#showSettled()
    })
  }

  #showSettled() { if (this.live.isSettled) this.emit('settled') }

  #refused(error) {
    if (error.reason === 'purged') return this.#end(error)
    if (error instanceof ResponseError && !this.problem) this.emit('problem', this.problem = error)
  }

  #end(error) {
    if (this.ended) return
    this.detach()
    this.ended = error
    this.emit('end', error)
    this.emit('settled') // nobody waits for it any more
  }
}
