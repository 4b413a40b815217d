// A client for Decent Notes in JavaScript, without packages; for Node 20, and the ground for an extension of VS Code.
//
//     const client = new Client({ notebook: '/home/ana/Notes' })
//     await client.start()
//     const { note } = await client.request('note/create', { title: 'Shopping' })
//     const shopping = await client.open(note.id)
//     shopping.on('change', (text) => show(text))       // others have changed it
//     shopping.setText('milk\neggs')
//     await client.end()
//
// `LiveText` is the algorithm of a client, without input or output; its fields and states are those of the tables in clients/README.md.
// `Process` is JSON-RPC with one process, `Client` starts another one when it dies, `Attachment` is a note that is open.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'

const contentModified = -32801
const hashedBytes = 256 * 1024 // a longer text is checked by its size while the user types
const longestHeaders = 8 * 1024 // bytes; longer ones are none of our program's
const longestMessage = 256 * 1024 * 1024

/** An error that the server has answered; `reason` is there with code -32803. */
export class ResponseError extends Error {
  constructor({ code, message, data }) {
    super(message)
    this.code = code
    this.reason = data?.reason
  }
}

const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex')
const lineCount = (text) => text.split('\n').length

/** Applies the `lines` or `ranges` of a push, which all refer to the text before it. Columns are UTF-16 code units, as strings have them. */
export function applyPush(text, push) {
  if (push.text !== undefined) return push.text
  const lines = text.split('\n')
  if (push.lines) {
    for (const [start, end, now] of [...push.lines].reverse()) lines.splice(start, end - start, ...now)
    return lines.join('\n')
  }
  const starts = []
  lines.reduce((at, line) => (starts.push(at), at + line.length + 1), 0)
  const offset = ({ line, character }) => starts[line] + character
  return push.ranges.reduceRight(
    (now, { range, newText }) => now.slice(0, offset(range.start)) + newText + now.slice(offset(range.end)), text)
}

/** The text of an open note, and what the server knows of it. Methods that return a change return the parameters of `note/change`. */
export class LiveText {
  constructor({ text, rev, version, session }) {
    Object.assign(this, { text, rev, version, resumeToken: session, base: text, answered: version, whole: version })
    this.needsWhole = false
    this.isDetached = false
    this.isHashed = true // the last change had the hash of the text
  }

  get hasUnsent() { return this.needsWhole || this.answered < this.version }
  get isSettled() { return !this.isDetached && !this.hasUnsent }

  /** The user's text is now this one. */
  replace(text) {
    if (text.includes('\0') || !text.isWellFormed()) throw new Error('a note holds no U+0000 and no half of a surrogate pair')
    this.text = text
    return this.#change({ text })
  }

  sendWhole() { return this.replace(this.text) }

  /** The user has replaced the lines from `start` up to `end` by these. */
  replaceLines(start, end, lines) {
    const all = this.text.split('\n')
    all.splice(start, end - start, ...lines)
    const text = all.join('\n')
    if (text.includes('\0') || !text.isWellFormed()) throw new Error('a note holds no U+0000 and no half of a surrogate pair')
    this.text = text
    return this.#change({ lines: [[start, end, lines]] })
  }

  /** When the typing pauses: a change of nothing, with the hash that a long text lacks. */
  confirm() {
    if (this.isHashed || this.isDetached) return undefined
    return { ...this.#change({ lines: [] }), sha256: sha256(this.text), isHashed: (this.isHashed = true) && undefined }
  }

  /** A `note/edit` has come. Returns the whole text as a change if it does not fit. */
  takePush(push) {
    if (push.version !== this.version) return undefined // it has crossed a change; another one is coming
    const known = { sha256, bytes: Buffer.byteLength, lineCount }
    for (const [name, measure] of Object.entries(known)) {
      if (push[name] !== undefined && push[name] !== measure(this.text)) return this.sendWhole()
    }
    this.text = this.base = applyPush(this.text, push)
    this.rev = push.rev
    return undefined
  }

  /** The change of this version was answered. May return a change to send. */
  takeAnswer(version, error) {
    if (this.isDetached) return undefined
    this.answered = version
    if (!error) {
      if (version === this.version) this.base = this.text
    } else if (error.code !== contentModified) {
      this.needsWhole = true
    } else if (version >= this.whole) {
      return this.sendWhole() // otherwise the whole text was sent after this change
    }
    return undefined
  }

  /** The parameter `resume` of `note/open`. */
  resume() {
    this.isDetached = true
    this.answered = this.version
    this.resumedText = this.text
    return { session: this.resumeToken, version: this.version, rev: this.rev, text: this.text, baseText: this.base }
  }

  /** The note is open again. Returns the change that has what was typed meanwhile, if any. */
  takeResumed({ session, rev }) {
    Object.assign(this, { resumeToken: session, rev, base: this.resumedText, whole: this.answered, isDetached: false, needsWhole: false })
    return this.answered === this.version ? undefined : this.sendWhole()
  }

  #change(form) {
    this.version += 1
    if (this.needsWhole || form.text !== undefined) {
      form = { text: this.text }
      this.needsWhole = false
      this.whole = this.version
    }
    if (this.isDetached) return undefined
    this.isHashed = Buffer.byteLength(this.text) <= hashedBytes
    const check = this.isHashed ? { sha256: sha256(this.text) } : { bytes: Buffer.byteLength(this.text), lineCount: lineCount(this.text) }
    return { version: this.version, rev: this.rev, ...form, ...check }
  }
}

/** One process of the program. `notified(method, params)` gets notifications, `ended(error)` the end. */
export class Process {
  #pending = new Map()
  #lastID = 0
  #received = []
  #size = 0
  #errors = ''

  constructor(words, notified, ended) {
    this.notified = notified
    // A session of its own keeps Ctrl-C of the terminal from it.
    this.child = spawn(words[0], words.slice(1), { detached: true })
    this.child.stdin.on('error', () => {}) // the end is told below
    this.child.stderr.on('data', (data) => (this.#errors = (this.#errors + data).slice(-2000)))
    this.child.stdout.on('data', (data) => this.#read(data))
    this.child.on('error', (error) => this.#end(error, ended))
    this.child.on('close', (status) => this.#end(new Error(`decent-notes ended with ${status}: ${this.#errors.trim()}`), ended))
  }

  /** `then(error, result)` is called before any later message is looked at. A promise would be too late: a push may stand right behind. */
  request(method, params, then) {
    if (this.lost) return then(this.lost)
    const id = ++this.#lastID
    this.#pending.set(id, then)
    return this.#send({ id, method, params })
  }

  notify(method, params) { this.#send({ method, params }) }

  #send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    this.child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`)
    this.child.stdin.write(body)
  }

  #end(error, ended) {
    if (this.lost) return
    this.lost = error
    for (const then of this.#pending.values()) then(error) // these may have been done, or not
    ended(error)
  }

  // An answer may be long: its pieces are joined once, when it is complete.
  #read(data) {
    this.#received.push(data)
    this.#size += data.length
    while (this.#size >= (this.wanted ?? 1)) {
      let all = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received)
      const end = all.indexOf('\r\n\r\n')
      const length = Number(/^content-length: *(\d+)/im.exec(all.subarray(0, Math.max(0, end)).toString('latin1'))?.[1])
      if ((end < 0 && all.length > longestHeaders) || (end >= 0 && !(length <= longestMessage))) return void this.child.kill('SIGKILL')
      this.wanted = end < 0 ? this.#size + 1 : end + 4 + length
      const isComplete = all.length >= this.wanted
      const body = isComplete ? all.subarray(end + 4, this.wanted) : undefined
      if (isComplete) all = all.subarray(this.wanted)
      this.#received = all.length ? [all] : []
      this.#size = all.length
      if (!isComplete) return
      this.wanted = undefined
      this.#take(JSON.parse(body.toString('utf8')))
    }
  }

  #take({ id, method, params, result, error }) {
    if (method) return this.notified(method, params)
    // Something that was sent was no message, and there is no telling which: a mistake of this client.
    if (id === null) return void this.child.kill('SIGKILL')
    const then = this.#pending.get(id)
    this.#pending.delete(id)
    return error ? then?.(new ResponseError(error)) : then?.(undefined, result)
  }
}

/** Notes, by a process. Emits what the process notifies of, `gone` with an error when no other process is started by itself. */
export class Client extends EventEmitter {
  #starts = []

  /** `restarts` processes in so many milliseconds take the place of those that die. */
  constructor({ notebook, command = ['decent-notes'], restarts = 5, period = 180_000 } = {}) {
    super()
    Object.assign(this, { restarts, period, attachments: new Set(), isLeaving: false })
    this.words = [...command, ...(notebook ? ['--notebook', notebook] : [])]
  }

  start() {
    this.process = new Process(this.words, (method, params) => this.#notified(method, params), (error) => this.#ended(error))
    const initialize = {
      processId: process.pid, clientInfo: { name: 'decent-notes.mjs' },
      capabilities: { general: { positionEncodings: ['utf-16'] } }, // the unit of our strings
    }
    return new Promise((resolve, reject) => {
      this.process.request('initialize', initialize, (error, result) => {
        if (error) return reject(error)
        this.server = result
        for (const attachment of this.attachments) attachment.resume()
        return resolve(result)
      })
    })
  }

  request(method, params = {}) {
    return new Promise((resolve, reject) => {
      this.process.request(method, params, (error, result) => (error ? reject(error) : resolve(result)))
    })
  }

  open(note) { return new Promise((resolve, reject) => new Attachment(this, note, resolve, reject)) }

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
    this.start().catch((reason) => reason instanceof ResponseError && this.emit('gone', reason))
  }
}

/** A note that is open. Emits `change` with the text when others have changed it, `settled`, `problem` with an error, and `end` when the note was forgotten. */
export class Attachment extends EventEmitter {
  constructor(client, note, resolve, reject) {
    super()
    Object.assign(this, { client, note, isOpening: false })
    this.#open({}, (error, result) => {
      if (error) return reject(error)
      this.live = new LiveText(result)
      client.attachments.add(this)
      return resolve(this)
    })
  }

  get text() { return this.live.text }
  setText(text) { if (text !== this.text) this.#send(this.#changing().replace(text)) }
  replaceLines(start, end, lines) { this.#send(this.#changing().replaceLines(start, end, lines)) }

  /** Waits until the server has everything, at most so many milliseconds; throws the error that prevents it. */
  async settle(within = 30_000) {
    this.sendUnsent()
    this.#send(this.live.confirm())
    const deadline = Date.now() + within
    while (!this.live.isSettled) {
      if (this.ended) throw this.ended
      if (Date.now() > deadline) throw this.problem ?? new Error('the server does not answer')
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(1000, within))
        this.once('settled', () => (clearTimeout(timer), resolve()))
      })
    }
  }

  /** Closes the note. A text that the server does not take is written to a file, which the error names. */
  async close() {
    try {
      if (!this.ended || this.live.hasUnsent) await this.settle()
    } catch (error) {
      throw new Error(`${error.message}; the text is kept in ${this.#keepInFile()}`)
    } finally {
      this.client.attachments.delete(this)
    }
    if (this.number !== undefined) this.client.process.request('note/close', { attachment: this.number }, () => {})
  }

  undo() { return this.client.request('note/undo', { attachment: this.number }) }
  redo() { return this.client.request('note/redo', { attachment: this.number }) }

  take(method, params) {
    if (method === 'window/showMessage' && params.type >= 3) this.sendUnsent()
    if (this.number === undefined || params.attachment !== this.number) return
    if (method === 'note/closed') this.#forgotten(new Error(`the note was ${params.reason}`))
    if (method !== 'note/edit') return
    const rev = this.live.rev
    this.#send(this.live.takePush(params))
    if (this.live.rev !== rev) this.emit('change', this.text)
  }

  detach() {
    this.number = undefined
    this.isOpening = false
    this.live.isDetached = true
  }

  resume() {
    if (this.ended) return
    this.isOpening = true
    this.#open({ resume: this.live.resume() }, (error, result) => {
      this.isOpening = false
      if (error?.reason === 'purged') return this.#forgotten(error)
      if (error) return error instanceof ResponseError && this.#tell(error)
      if (result.resumed === 'conflict') this.emit('conflict', result.copy)
      this.#send(this.live.takeResumed(result))
      return this.#showSettled()
    })
  }

  /** Sends what the server lacks. */
  sendUnsent() {
    if (this.live.isDetached && !this.isOpening && !this.client.process.lost) this.resume()
    if (this.live.needsWhole && !this.live.isDetached) this.#send(this.live.sendWhole())
  }

  #changing() {
    if (this.ended) throw this.ended
    return this.live
  }

  #open(more, then) {
    const process = this.client.process
    process.request('note/open', { id: this.note, mode: 'edit', push: 'ranges', ...more }, (error, result) => {
      // Pushes for it may stand right behind this answer.
      if (result) Object.assign(this, { process, number: result.attachment, problem: undefined })
      then(error, result)
    })
  }

  #send(change) {
    if (!change) return
    const process = this.process
    process.request('note/change', { attachment: this.number, ...change }, (error) => {
      if (process !== this.process || this.live.isDetached) return
      if (error?.reason === 'purged') return void this.#forgotten(error)
      if (error?.reason === 'reopen') return void this.resume()
      if (!error || error instanceof ResponseError) this.#send(this.live.takeAnswer(change.version, error))
      if (this.live.needsWhole) this.#tell(error)
      this.#showSettled()
    })
  }

  #showSettled() { if (this.live.isSettled) this.emit('settled') }

  #tell(error) {
    if (!this.problem) this.emit('problem', error)
    this.problem = error
  }

  #forgotten(error) {
    if (this.ended) return
    this.detach()
    this.ended = error
    this.emit('end', error)
  }

  #keepInFile() {
    const folder = `${process.env.XDG_STATE_HOME ?? `${homedir()}/.local/state`}/decent-notes/unsent`
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const name = `${folder}/${this.note}-${Date.now()}.txt`
    writeFileSync(name, this.text, { mode: 0o600 })
    return name
  }
}
