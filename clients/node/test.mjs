// Tests of the client: `node --test clients/node/test.mjs`, with the program in DECENT_NOTES_COMMAND or on the path.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { applyLines, changedLines, Client, LiveText, ResponseError } from './decent-notes.mjs'

const folder = mkdtempSync(join(tmpdir(), 'decent-notes-node-'))
process.env.XDG_STATE_HOME = join(folder, 'state')
after(() => rmSync(folder, { recursive: true, force: true }))

const command = [process.env.DECENT_NOTES_COMMAND ?? 'decent-notes']
let notebooks = 0
const newNotebook = () => join(folder, `notes-${(notebooks += 1)}`)
const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds) })

/** Numbers from 0 up to, but without, a bound; the same in every run. */
function randomNumbers(seed) {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

async function until(what, holds) {
  for (let left = 3000; left > 0; left -= 1) {
    if (await holds()) return
    await pause(20)
  }
  assert.fail(`waited in vain for ${what}`)
}

async function begin(notebook, options = {}) {
  const client = new Client({ notebook, command, ...options })
  await client.start()
  return client
}

test('the lines between two texts make one of the other', () => {
  const below = randomNumbers(1)
  const text = () => Array.from({ length: below(6) }, () => ['a', 'b', '', 'é\r'][below(4)]).join('\n')
  for (let round = 0; round < 5000; round += 1) {
    const [old, next] = [text(), text()]
    assert.equal(applyLines(old, [changedLines(old, next)]), next)
  }
  assert.equal(applyLines('a\nb\nc\nd', [[0, 1, ['x', 'y']], [2, 2, ['z']], [3, 4, []]]), 'x\ny\nb\nz\nc')
})

test('what no note can hold is refused, and changes nothing', () => {
  const live = new LiveText({ text: 'a', rev: 0, version: 0, session: '' })
  for (const text of ['\0', '\ud800', 'a\udc00b']) assert.throws(() => live.replace(text))
  assert.equal(live.text, 'a')
  assert.ok(live.isSettled)
  assert.ok(live.replace('👩‍👩‍👧'))
})

test('a push with another hash is answered by the whole text', () => {
  const live = new LiveText({ text: 'a', rev: 0, version: 0, session: '' })
  const change = live.takePush({ version: 0, rev: 1, lines: [[0, 0, ['b']]], sha256: '00' })
  assert.equal(change.text, 'a')
  assert.equal(live.rev, 0)
  // Refused with -32801 the whole text is sent again, but not for a change before it.
  assert.equal(live.takeAnswer(0, { code: -32801 }), undefined)
  assert.equal(live.takeAnswer(1, { code: -32801 }).text, 'a')
  live.takeAnswer(2, { code: -32602 })
  assert.ok(live.needsWhole && live.hasUnsent)
})

for (const seed of [1, 2, 3]) {
  test(`two clients type into one note while their processes die: seed ${seed}`, async () => {
    const below = randomNumbers(seed)
    const notebook = newNotebook()
    const clients = [await begin(notebook, { restarts: 100 }), await begin(notebook, { restarts: 100 })]
    const { note } = await clients[0].request('note/create', { title: 'Tokens' })
    await until('the note', async () => (await clients[1].request('notebook/list')).notes.length === 1)
    const notes = [await clients[0].open(note.id), await clients[1].open(note.id)]
    const tokens = []
    for (let round = 0; round < 150; round += 1) {
      const number = below(2)
      // Lines of their own, as typing at one place may split a word.
      const lines = notes[number].text.split('\n')
      tokens.push(`token-${seed}-${round}-`)
      lines.splice(below(lines.length + 1), 0, tokens.at(-1))
      notes[number].setText(lines.join('\n'))
      if (below(3) === 0) await pause(below(30))
      if (below(12) === 0) clients[below(2)].process.child.kill('SIGKILL')
    }
    for (const open of notes) await open.settle()
    await until('equal texts', () => notes[0].text === notes[1].text && tokens.every((token) => notes[0].text.includes(token)))
    for (const token of tokens) assert.equal(notes[0].text.split(token).length, 2, token)
    for (const client of clients) await client.end()
    const reader = await begin(notebook)
    assert.equal((await reader.request('note/get', { id: note.id })).text, notes[0].text)
    await reader.end()
  })
}

test('a long text is checked when the typing pauses, and heals', async () => {
  const client = await begin(newNotebook())
  const { note } = await client.request('note/create', { title: 'Long', text: 'a line\n'.repeat(60_000) })
  const open = await client.open(note.id)
  open.setText(`${open.text}more`)
  // An edit that was not noticed, of the same length.
  open.live.text = `b${open.text.slice(1)}`
  open.setText(`${open.text} and more`)
  await open.settle()
  assert.equal((await client.request('note/get', { id: note.id })).text, open.text)
  await client.end()
})

test('only what was typed here is undone', async () => {
  const client = await begin(newNotebook())
  const { note } = await client.request('note/create', { title: 'Undo', text: 'one' })
  const open = await client.open(note.id)
  open.setText('one two')
  await client.request('note/append', { id: note.id, text: '\nthree' })
  await until('what others wrote', () => open.text === 'one two\nthree')
  await open.undo()
  await until('the undo', () => open.text === 'one\nthree')
  await open.redo()
  await until('the redo', () => open.text === 'one two\nthree')
  await client.end()
})

test('a note that is forgotten ends, and says so', async () => {
  const client = await begin(newNotebook())
  const { note } = await client.request('note/create', { title: 'Gone' })
  const open = await client.open(note.id)
  await client.request('note/delete', { id: note.id })
  const ended = once(open, 'end')
  await client.request('note/purge', { id: note.id })
  assert.match((await ended)[0].message, /purged/)
  assert.throws(() => open.setText('more'), /purged/)
  await client.end()
})

test('what the server does not take comes with the error', async () => {
  const client = await begin(newNotebook(), { restarts: 0 })
  const { note } = await client.request('note/create', { title: 'Kept' })
  const open = await client.open(note.id)
  const gone = once(client, 'gone')
  client.process.child.kill('SIGKILL')
  await gone
  open.setText('unsent')
  await assert.rejects(open.settle(100), (error) => error.text === 'unsent')
  await assert.rejects(client.request('notebook/list'), /ended with SIGKILL/)
  // The user asks for another process.
  await client.start()
  await open.settle()
  assert.equal((await client.request('note/get', { id: note.id })).text, 'unsent')
  await client.end()
})

test('an error is told with its reason', async () => {
  const client = await begin(newNotebook())
  await assert.rejects(client.open('1-00000000000000000000000000000000'), (error) => error instanceof ResponseError && error.code === -32803)
  await assert.rejects(client.request('no/method'), (error) => error.code === -32601)
  await client.end()
})

test('a program that is none of ours is given up', async () => {
  for (const script of ['echo Hello, who is there?; exec cat >/dev/null', 'exit 3', 'echo "{\\"id\\":null,\\"error\\":{\\"code\\":1,\\"message\\":\\"no\\"}}"; cat']) {
    const program = join(folder, `program-${script.length}`)
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o700)
    await assert.rejects(begin(newNotebook(), { command: [program] }), /protocol|ended with 3|no/)
  }
  await assert.rejects(begin(newNotebook(), { command: [join(folder, 'nothing')] }), /ENOENT/)
})
