// The messages of Decent Notes, for TypeScript. Made of metaModel.json by a test, and held against it.

/** Exactly one of these members is given. */
export type OneOf<T> = { [K in keyof T]: { [P in K]: T[P] } & { [P in Exclude<keyof T, K>]?: never } }[keyof T]

/** What a client asks for, by method. */
export interface Requests {
  /** The first request of a connection, sent once. Any request before it is answered with -32002, a second one with -32600. */
  'initialize': { params: InitializeParams; result: InitializeResult }
  /** Answers when everything so far is on disk for good. After it every request is answered with -32600; `exit` is what should follow. */
  'shutdown': { params: Record<string, never>; result: null }
  /** Creates a note. Without a place it becomes the first of the list. Fails with `noSuchNote` where `before` or `after` names no note. */
  'note/create': { params: NoteCreateParams; result: NoteResult }
  /** A note's summary and text, now or at an earlier revision. Fails with `noSuchNote`, also where the note did not exist at that revision, and with `unknownRevision`. */
  'note/get': { params: NoteGetParams; result: NoteGetResult }
  /** What happened to a note, its place in the list aside, from its creation on, the newest first. Fails with `noSuchNote`. */
  'note/history': { params: NoteHistoryParams; result: NoteHistoryResult }
  /** Makes a note's text, title, tags and priority what they were at a revision, by one change of what they are now. For each attachment of this process that edits the note it is a step, which `note/undo` takes back. Fails with `noSuchNote`, also where the note did not exist at that revision, and with `unknownRevision`. */
  'note/restoreVersion': { params: NoteRestoreVersionParams; result: NoteResult }
  /** Changes title, priority or tags: whatever is present. Only differences are recorded: a tag that is already there is not added again, nor is one removed that is not there. */
  'note/update': { params: NoteUpdateParams; result: NoteResult }
  /** Gives a note another title, and the links in all notes that mean it by the old one the new one, by one change. For each attachment of this process that edits one of these notes it is a step, with which `note/undo` takes back all of it. Links that may mean another note as well are left alone, and told. Fails with `noSuchNote`. */
  'note/rename': { params: NoteRenameParams; result: NoteRenameResult }
  /** Joins two notes: adds the lines and the tags of `from` to `id`, makes the links to `from` lead to `id`, and puts `from`, with its text and its history, into the trash, by one change. For each attachment of this process that edits one of these notes it is a step, with which `note/undo` takes back all of it. Links that may mean a third note are left alone, and told. Fails with `noSuchNote`. */
  'note/merge': { params: NoteMergeParams; result: NoteRenameResult }
  /** The links in the text of a note and in the header of its file, and the notes that they lead to. Fails with `noSuchNote`. */
  'note/links': { params: NoteLinksParams; result: NoteLinksResult }
  /** The notes with links that lead to a note, the one that was changed last first. Notes in the trash have no links, and none lead to them. Fails with `noSuchNote`. */
  'note/backlinks': { params: NoteBacklinksParams; result: NoteBacklinksResult }
  /** Gives a note a text, whole. The server takes the difference between the text at `base` and this one, and merges it into the present text; without `base` it takes the difference to the present text. Fails with `noSuchNote` and `unknownBase`. */
  'note/setText': { params: NoteSetTextParams; result: NoteSetTextResult }
  /** Adds text at the end of a note. */
  'note/append': { params: NoteAppendParams; result: RevisionResult }
  /** Moves a note within the user's order. Exactly one of `index`, `before` and `after` is present. */
  'note/move': { params: NoteMoveParams; result: RevisionResult }
  /** Moves a note to the trash. A change to its title or text that the deletion had not seen, or any later one, takes it out again. Deleting what is in the trash changes nothing. */
  'note/delete': { params: NoteParams; result: RevisionResult }
  /** Takes a note out of the trash. Restoring what is not in it changes nothing. */
  'note/restore': { params: NoteParams; result: RevisionResult }
  /** Forgets a note of the trash for good, with all of its past, on all machines. Nothing brings it back, whatever is done to it elsewhere. Fails with `notTrashed`, and with `purged` where that was done before. A confined client is refused it. */
  'note/purge': { params: NoteParams; result: RevisionResult }
  /** Opens a note as a live text. Each open is an attachment of its own, of which a connection and a note may have any number. */
  'note/open': { params: NoteOpenParams; result: NoteOpenResult }
  /** What happened in the client's text. Exactly one of `text`, `lines` and `ranges` is present. Error -32801: the change does not fit the text the server takes the client to show (a position outside it, or a check that differs); the client sends the whole text. Error -32602: `version` has not grown, or `sha256`, `bytes` or `lineCount` is not that of `text`. Fails with `readOnly` in an attachment that only observes, with `reopen` where attachment or `rev` is unknown, with `diskFull`, `readOnly` or `writeFailed` where it could not be kept: then it did not happen. */
  'note/change': { params: NoteChangeParams; result: NoteChangeResult }
  /** Ends an attachment. Fails with `reopen` where there is no such attachment. */
  'note/close': { params: NoteCloseParams; result: null }
  /** Takes back the last change that this attachment made and has not taken back: of what it inserted whatever is still there is removed, and what it removed is inserted again where it stood, unless it is there again. What others did stays. The effect comes as `note/edit`, to the client that asks as well. Fails with `reopen` where there is no such attachment, and with `readOnly` in one that only observes. */
  'note/undo': { params: NoteUndoParams; result: NoteUndoResult }
  /** Makes the last change again that `note/undo` took back. A change of the client's own after it leaves nothing to redo. Otherwise as `note/undo`. */
  'note/redo': { params: NoteUndoParams; result: NoteUndoResult }
  /** Notes in an order, as far as they pass every filter given. Page by page, whatever is there all the time comes once. A parameter that is not known is refused. Fails with `unknownRevision` where `after` is of a state that is not known here, and with `noSuchNote`. */
  'notebook/list': { params: NotebookListParams; result: NotebookListResult }
  /** The notes that a person means by a name: the one of this id, wherever it is; else those of this title; else those whose ids begin so, with the hyphen and at least four digits behind it. Fails with `purged` where the name is the id of a note that was forgotten for good. */
  'notebook/find': { params: NotebookFindParams; result: NotebookFindResult }
  /** The notes that have what is looked for in their title, their text or their tags, as they were when it was asked; those in the trash are left out unless the query says otherwise. Case and the marks on letters make no difference. A parameter or a filter that is not known is refused. Answered late where there is much to look through, without holding up what follows; `$/cancelRequest` stops it. */
  'notebook/search': { params: NotebookSearchParams; result: NotebookSearchResult }
  /** The note that a link with this text leads to: by its id, or as the only one that has the text as path, title or alias, composed and without case. Where several have it, none is meant. */
  'notebook/resolve': { params: NotebookResolveParams; result: NotebookResolveResult }
  /** Titles and aliases, or tags, that begin with a text, for an editor to complete. Those of notes in the trash are left out. */
  'notebook/complete': { params: NotebookCompleteParams; result: NotebookCompleteResult }
  /** All tags of the notes that are not in the trash. */
  'notebook/tags': { params: Record<string, never>; result: NotebookTagsResult }
  /** What happened in the notebook, the newest first, as it was known when it was asked. Answered late where there is much to look through, without holding up what follows; `$/cancelRequest` stops it. Fails with `unknownRevision`. */
  'notebook/log': { params: NotebookLogParams; result: NotebookLogResult }
  /** What the notebook holds and how it is. */
  'notebook/status': { params: Record<string, never>; result: NotebookStatusResult }
  /** What a replica at `since` has not seen, in a piece that can be merged by itself. Where `more` is true, asking again with `since` set to the result's `revision` gets the next piece. Fails with `divergedSession` where `digest` is not that of what is known here. */
  'notebook/changes': { params: NotebookChangesParams; result: NotebookChangesResult }
  /** Digests of histories, by which two replicas find out where they know different changes under the same names. */
  'notebook/digests': { params: NotebookDigestsParams; result: NotebookDigestsResult }
  /** Merges changes that `notebook/changes` gave out, here or elsewhere, in any order and any number of times. A notebook whose folder is new takes its identity from the first merge. Fails with `foreignNotebook`, `damagedChanges`, `newerChanges`, `invalidChanges` or `missingChanges`, and then nothing is merged. Merging what is known changes nothing and sends no `notebook/didChange`. */
  'notebook/merge': { params: NotebookMergeParams; result: NotebookMergeResult }
  /** From now on the client, another replica's process, is told by `notebook/newChanges` what is new to it, and by `notebook/presence` of participants, and no longer by `notebook/didChange`. Asked again without `since` it says that the client is there: the process leaves when nothing has come for 45 seconds. */
  'notebook/follow': { params: NotebookFollowParams; result: NotebookFollowResult }
  /** Carries out several requests, one after the other, or none of them: the error of one is that of the batch, and its message begins with the place of the request. The changes are written at once, and are one step of each attachment of this process that edits one of the notes. Where a request has the id of a note, `#` and a number name the note that the request at this place, from 0, has created. */
  'notebook/batch': { params: NotebookBatchParams; result: NotebookBatchResult }
  /** Takes back what one participant did since a time, in all notes, as far as nobody else has written anything there since. It is one step of each attachment of this process that edits one of the notes. */
  'notebook/undo': { params: NotebookUndoParams; result: NotebookUndoResult }
  /** Answers when everything so far is on disk for good. Does not hold up the requests that follow it. With `attachment` it is a save of that text. Fails with `reopen` or `purged` where there is no such attachment. */
  'notebook/flush': { params: NotebookFlushParams; result: null }
  /** Exchanges changes with another replica of the notebook, both ways; with `stay`, also those that are made later, as soon as they are. Answered when each has what either had when it began; does not hold up the requests that follow it. What arrives is told by `notebook/didChange`. Whatever was exchanged before a failure stays. Fails with `peerUnreachable`, `badPeer`, `peerFailed`, `foreignNotebook` or `confined`, or as `notebook/merge` does; and with `divergedSession` when everything was exchanged but what the two know under the same names and is different. */
  'notebook/sync': { params: NotebookSyncParams; result: NotebookSyncResult }
  /** Makes a note of each file at a path, or below it if it is a folder; again, takes over what has changed in the files since. Answered when all were read; does not hold up the requests that follow it. What changes is told by `notebook/didChange`. What was read before a failure or `$/cancelRequest` stays. Fails with `unusableFolder`, `unusableFile` or `confined`, or as changes do. */
  'notebook/import': { params: NotebookImportParams; result: NotebookImportResult }
  /** Answered when the folder of files that the process mirrors and the notes are equal. Fails with `noMirror`, `mirrored`, `mirrorStopped`, `incomplete`, `unusableFolder` or `confined`. */
  'notebook/mirror': { params: Record<string, never>; result: NotebookMirrorResult }
  /** Writes the notes that are not in the trash as files into a folder; again, what has changed since, and removes the files that it wrote of notes that are gone, unless the notebook lacks something, which is told. Answered when all are written; does not hold up the requests that follow it. Fails with `unusableFolder`, `notEmpty`, `diskFull` or `confined`. */
  'notebook/export': { params: NotebookExportParams; result: NotebookExportResult }
}

/** What a client tells without an answer, by method. */
export interface ClientNotifications {
  /** The client has the result of `initialize`. Accepted, not needed. */
  'initialized': { params: Record<string, never> }
  /** Ends the process: with status 0 after `shutdown`, else with 1. The end of standard input does the same. */
  'exit': { params: Record<string, never> }
  /** The client no longer needs an answer. There is one all the same: the result, or error -32800. */
  '$/cancelRequest': { params: CancelParams }
  /** Sets how much `$/logTrace` tells. */
  '$/setTrace': { params: SetTraceParams }
  /** Where the client's cursors are, for the other attachments of the note; none, if they are to see none. Dropped if the server takes the client to have other numbers, or a position lies outside the text. Never stored. */
  'note/cursor': { params: NoteCursorParams }
  /** Participants that are new or have moved or are gone, between a client that follows and its server: all at first, then what has changed, at most twenty times a second. What the server can't understand it drops; a client does well to leave a server that tells such. */
  'notebook/presence': { params: NotebookPresenceParams }
}

/** What the server tells without being asked, by method. */
export interface ServerNotifications {
  /** How far a request has got that came with a `workDoneToken`. */
  '$/progress': { params: ProgressParams }
  /** What the server is doing, as far as `trace` asks for it. */
  '$/logTrace': { params: LogTraceParams }
  /** A line for the client's log. */
  'window/logMessage': { params: MessageParams }
  /** A line to show to the user: among others, that the notebook's folder cannot be written, and that it can again. */
  'window/showMessage': { params: MessageParams }
  /** A push: what others did to a text that is open, relative to what the client shows at `version`. Exactly one of `text`, `lines` and `ranges` is present: the form that `note/open` asked for. A client whose version is another drops it. */
  'note/edit': { params: NoteEditParams }
  /** Who else is in the note, with cursors in the text that the client shows at these numbers; a client with others drops it, unless `peers` is empty, which is told once. Always all of them: who is missing has left, or has no cursor. Sent when one of them has moved, of those in other processes at most twenty times a second, and, as long as there are any, when the client's numbers change. */
  'note/presence': { params: NotePresenceParams }
  /** An attachment has ended: its note was purged. It is told once; from then on requests with this attachment fail with `purged`. */
  'note/closed': { params: NoteClosedParams }
  /** Changes that a client which follows has not seen, in a piece that can be merged by itself, or a part of one. */
  'notebook/newChanges': { params: NotebookNewChangesParams }
  /** Participants that are new or have moved or are gone, between a client that follows and its server: all at first, then what has changed, at most twenty times a second. What the server can't understand it drops; a client does well to leave a server that tells such. */
  'notebook/presence': { params: NotebookPresenceParams }
  /** The notebook was changed by somebody other than this client: another process, another machine, a merge. */
  'notebook/didChange': { params: NotebookDidChangeParams }
}

/** Everything may be left out. */
export interface InitializeParams {
  /** The client's process. When it is gone, the server leaves too. The number of a process that the server can't see from the start counts as absent. */
  processId?: number | null
  /** The client. Its name stands in history, beside that of its user; without one, the program's own does. */
  clientInfo?: ClientInfo
  /** Who uses the client. Without it, the argument `--name` says so, and without that it is `user@host`. */
  participant?: Participant
  /** What the client can do. */
  capabilities?: ClientCapabilities
  /** The server's options. */
  initializationOptions?: InitializationOptions
  /** How much `$/logTrace` tells; "off" where absent. */
  trace?: TraceValue
}

/** Who the client is. */
export interface ClientInfo {
  /** Its name. */
  name: string
  /** Its version. */
  version?: string
}

/** A person, or what takes the place of one. */
export interface Participant {
  /** The name. Blanks around it are dropped, control characters and line breaks become spaces, and it is cut to 100 bytes, between two characters. Empty means none. */
  name: string
}

/** What the client can do. */
export interface ClientCapabilities {
  /** What concerns every message. */
  general?: GeneralClientCapabilities
  /** What concerns the exchange of changes. */
  notebook?: NotebookClientCapabilities
}

/** What concerns the exchange of changes. */
export interface NotebookClientCapabilities {
  /** Whether to answer with the digest of the notebook's revision. To find it takes some time in a large notebook. */
  digest?: boolean
}

/** What concerns every message. */
export interface GeneralClientCapabilities {
  /** The units the client can count positions in, the best first; the server takes the first it knows. "utf-16" where there is none, or none it knows. */
  positionEncodings?: (PositionEncodingKind | string)[]
}

/** The server's options. */
export interface InitializationOptions {
  /** The notebook's folder. Else the `--notebook` argument names it, else the environment variable `DECENT_NOTES`, else it is in the user's data folder. */
  notebook?: string
}

/** What the client can rely on from here on. */
export interface InitializeResult {
  /** "1.0". A server of the same major version adds to it and takes nothing away. */
  protocolVersion: string
  /** Who the server is. */
  serverInfo: ServerInfo
  /** What the server can do. */
  capabilities: ServerCapabilities
  /** The notebook that is open. */
  notebook: NotebookInfo
  /** Tags to offer to the user: "home", "work", "travel", "leisure". Others are as good. */
  suggestedTags: string[]
}

/** Who the server is. */
export interface ServerInfo {
  /** "decent-notes". */
  name: string
  /** Its version. */
  version: string
}

/** What the server can do. */
export interface ServerCapabilities {
  /** The unit of `character` in every position of this connection. */
  positionEncoding: PositionEncodingKind
  /** What the server can do with notes. */
  note: NoteCapabilities
  /** What the server can do with a notebook. */
  notebook: NotebookCapabilities
}

/** The forms that a live text's messages may have, and what else there is for notes. */
export interface NoteCapabilities {
  /** What `note/change` may carry. */
  change: EditForm[]
  /** What `note/open` may ask for as `push`. */
  push: PushForm[]
  /** What `note/open` may ask for as `check`. */
  check: CheckKind[]
  /** Whether `note/open` takes `resume`. */
  resume: boolean
  /** Whether there are `note/undo` and `note/redo`. */
  undo: boolean
  /** Whether there are `note/cursor` and `note/presence`. */
  presence: boolean
  /** Whether there is `note/history`. */
  history: boolean
  /** Whether there is `note/restoreVersion`. */
  restoreVersion: boolean
}

/** What the server can do with a notebook. */
export interface NotebookCapabilities {
  /** Whether there is `notebook/search`. */
  search: boolean
  /** Whether there are `note/links`, `note/backlinks`, `note/rename`, `note/merge`, `notebook/resolve`, `notebook/complete` and `notebook/tags`. */
  links: boolean
  /** Whether there is `notebook/log`. */
  log: boolean
  /** Whether there is `notebook/batch`. */
  batch: boolean
  /** Whether there is `notebook/undo`. */
  undo: boolean
  /** Whether there is `notebook/follow`, and `notebook/sync` takes `stay`. */
  follow: boolean
  /** Whether `notebook/sync` does anything but fail with `confined`. */
  sync: boolean
  /** Whether `notebook/import` and `notebook/export` do anything but fail with `confined`. */
  files: boolean
}

/** The notebook that is open. */
export interface NotebookInfo {
  /** The notebook's identity. Null while the folder is new: it gets one with its first note, or with its first merge. */
  id: string | null
  /** Its folder. */
  path: string
  /** Its state. */
  revision: Revision
  /** The digest of the revision, for clients that have asked for it. */
  digest?: Digest
}

/** All of a note but its text. */
export interface NoteSummary {
  /** The note. */
  id: NoteId
  /** One line. */
  title: string
  /** Each once. */
  tags: string[]
  /** How much it matters. */
  priority: Priority
  /** When it was created. */
  created: Time
  /** The time of the last change of its text, title or tags, by its author's clock. The last one is the one that comes after all its author had seen, not the one with the latest time. Of an imported note it is never before the last change that its file says. */
  modified: Time
  /** The length of its text in UTF-8 bytes. */
  length: number
  /** Whether it is in the trash. */
  trashed: boolean
  /** Where its file is, relative to the folder that it was imported from. Absent if it has none. */
  path?: string
}

/** At most one of `index`, `before` and `after` is present. */
export interface NoteCreateParams {
  /** Text without U+0000, CR and LF; "" where absent. */
  title?: string
  /** Text without U+0000; "" where absent. */
  text?: string
  /** Each without U+0000, CR and LF, and of 1 to 200 bytes; none where absent. */
  tags?: string[]
  /** "normal" where absent. */
  priority?: Priority
  /** Its place in the list afterwards, from 0, not counting the trash; 0 where no place is given. */
  index?: number
  /** The note it is to stand before. */
  before?: NoteId
  /** The note it is to stand after. */
  after?: NoteId
  /** Makes the id of the title, so that replicas which create the note before they meet create one; false where absent. If the notebook knows such a note, in the trash too, an ordinary one is created. Not in a batch, and not with a `requestKey`. */
  titleAsIdentity?: boolean
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** A note after a change. */
export interface NoteResult {
  /** The note. */
  note: NoteSummary
  /** The state of the notebook after this request. */
  revision: Revision
}

/** Which note, and when. */
export interface NoteGetParams {
  /** The note. */
  id: NoteId
  /** An earlier state; the present one where absent. */
  revision?: Revision
}

/** A note with its text. */
export interface NoteGetResult {
  /** The note, as it is or was. */
  note: NoteSummary
  /** Its text. */
  text: string
  /** The header of its file (front matter), as it stands there with its delimiters; absent where there is none. */
  header?: string
  /** The fields of the header that are not understood, by their keys, or "JSON" or "lines that are no fields": what is set in the note is not set there. Absent where there are none. */
  headerIssues?: string[]
  /** The state of the notebook that this is from: what to hand to `note/setText` as `base`. */
  revision: Revision
}

/** A change to a note's tags. */
export interface TagsChange {
  /** Tags to add. */
  add?: string[]
  /** Tags to remove. */
  remove?: string[]
}

/** A note, and how much is wanted of its history. */
export interface NoteHistoryParams {
  /** The note. */
  id: NoteId
  /** The most entries to list, at least 1; all where absent. */
  limit?: number
}

/** The history of a note. */
export interface NoteHistoryResult {
  /** The newest first, by logical time. */
  entries: HistoryEntry[]
}

/** What one author did with the note in one session until a save, the end of the attachment or of the process, a pause of a minute (of five seconds if others wrote meanwhile), a large removal, or undoing. It ends with every tenth minute of their clock, and after 4,096 changes of the session at most. */
export interface HistoryEntry {
  /** The state after the last of these changes, as their author saw it: `note/get` reads it. */
  revision: Revision
  /** When the last of them was made, by its author's clock. */
  time: Time
  /** What they did, each once; never `move` or `purge`. */
  what: WhatHappened[]
  /** Who made them; absent if no name is known. */
  author?: Author
  /** The session that made them: one run of a program that wrote. */
  replica: string
  /** Bytes of UTF-8 that they inserted. */
  inserted: number
  /** Bytes that they deleted; what two sessions deleted at once counts in both. */
  deleted: number
}

/** A note, and what it is to become. */
export interface NoteRestoreVersionParams {
  /** The note. */
  id: NoteId
  /** The state whose note it is to be again. */
  revision: Revision
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** What is absent stays as it is. */
export interface NoteUpdateParams {
  /** The note. */
  id: NoteId
  /** The new title: text without U+0000, CR and LF. */
  title?: string
  /** The new priority. */
  priority?: Priority
  /** All the tags it is to have, or which to add and to remove. */
  tags?: string[] | TagsChange
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** A text, and what it was made from. */
export interface NoteSetTextParams {
  /** The note. */
  id: NoteId
  /** The whole text, without U+0000. */
  text: string
  /** The state whose text the client started from; the present one where absent. */
  base?: Revision
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** What came of it. */
export interface NoteSetTextResult {
  /** The text after merging. */
  text: string
  /** The state of the notebook after this request. */
  revision: Revision
}

/** What to add. */
export interface NoteAppendParams {
  /** The note. */
  id: NoteId
  /** What to add at the end, without U+0000. No line end is put before it, unless `lines` is true. */
  text: string
  /** Whether to add whole lines: on lines of their own, also beside what others write at the end at the same moment, and with the line ends of the note. A note whose last line has no line end keeps that form. */
  lines?: boolean
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** Exactly one of `index`, `before` and `after` is present. */
export type NoteMoveParams = {
  /** The note. */
  id: NoteId
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
} & OneOf<{
  /** Its place in the list afterwards, from 0, not counting the trash. */
  index: number
  /** The note it is to stand before. */
  before: NoteId
  /** The note it is to stand after. */
  after: NoteId
}>

/** A note. */
export interface NoteParams {
  /** The note. */
  id: NoteId
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** It is done. */
export interface RevisionResult {
  /** The state of the notebook after this request. */
  revision: Revision
}

/** How to open a note. */
export interface NoteOpenParams {
  /** The note. */
  id: NoteId
  /** Whether the client is going to change the text. */
  mode: OpenMode
  /** The form in which `note/edit` says what changed; "lines" where absent. */
  push?: PushForm
  /** How the two sides make sure that they mean the same text; "sha256" where absent. */
  check?: CheckKind
  /** Whether the client would show each `\r\n` as `\n` in a text whose lines all end so; false where absent. */
  hidesReturns?: boolean
  /** The client shows a text already: it goes on where it was when the server died, or forgot the attachment. */
  resume?: Resumption
}

/** What a client says of itself that comes back with a text of its own. */
export interface Resumption {
  /** What the last `note/open` of this text was answered with. */
  session: string
  /** The client's count of its changes. It goes on from there. */
  version: number
  /** The last push the client applied. */
  rev: number
  /** What the client shows, with everything typed since. */
  text: string
  /** What the client showed when its last change was answered. Needed only if the server does not know the session. */
  baseText?: string
  /** That of the answer to the last `note/open` of this text: with it, `text` and `baseText` have `\n` for each `\r\n`. */
  hidesReturns?: boolean
}

/** An attachment. */
export interface NoteOpenResult {
  /** The attachment, as `note/open` numbered it. */
  attachment: number
  /** The attachment's token, by which it can be resumed. */
  session: string
  /** 0; with `resume` the client's. */
  version: number
  /** 0. */
  rev: number
  /** The text to show; with `resume` the client's own: what it lacks is pushed. */
  text: string
  /** Whether the client shows each `\r\n` as `\n`, as all messages of this attachment have it; false where absent. */
  hidesReturns?: boolean
  /** Whether `note/change` would be refused: always so with `mode` "observe". */
  readOnly: boolean
  /** With `resume`: how the client came back. */
  resumed?: ResumeOutcome
  /** With `resumed` "conflict": the new note that holds the client's text. */
  copy?: NoteId
}

/** A change to a live text. Exactly one of `text`, `lines` and `ranges` is present. Several `lines` or `ranges` all refer to the text before the change, and must not overlap; insertions at one place keep their order. */
export type NoteChangeParams = {
  /** The attachment, as `note/open` numbered it. */
  attachment: number
  /** The client's count of its changes, this one included. It grows with each, by one or more. */
  version: number
  /** The last push the client applied, 0 where none was: it names a push, not a state. */
  rev: number
  /** Of the text after the change. With `check` "sha256", every message about a text of up to 262,144 bytes carries it; a longer text's carry `bytes` and `lineCount`, and the hash when typing pauses. */
  sha256?: Sha256
  /** The length of the text after the change, in UTF-8 bytes. */
  bytes?: number
  /** The number of lines of the text after the change: its line feeds and one. */
  lineCount?: number
  /** Whether the change is one step with the last one of this attachment: undone and made again with it. Without effect where none was made since the attachment was opened, or since the last `note/undo` or `note/redo`. */
  sameStep?: boolean
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
} & OneOf<{
  /** The whole text, without U+0000. */
  text: string
  /** Lines that were replaced. */
  lines: LineEdit[]
  /** Ranges that were replaced. */
  ranges: TextEdit[]
}>

/** The change was kept. */
export interface NoteChangeResult {
  /** The version of the change. */
  version: number
}

/** The steps belong to the attachment: each change message that changed something is one, at least the last 10,000 of them. */
export interface NoteUndoParams {
  /** The attachment whose own change is meant. */
  attachment: number
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** The new text comes as a push. */
export interface NoteUndoResult {
  /** Whether there was a step, and the text was changed. Steps that come to nothing, since others have done the same, are passed over. */
  done: boolean
}

/** A push. Exactly one of `text`, `lines` and `ranges` is present. */
export type NoteEditParams = {
  /** The attachment, as `note/open` numbered it. */
  attachment: number
  /** The client's version that the push is relative to. */
  version: number
  /** The push's name: larger than that of any earlier push of this attachment. */
  rev: number
  /** Of the client's text before the push. Present and absent as in `note/change`. */
  sha256?: Sha256
  /** The length of the client's text before the push, in UTF-8 bytes. */
  bytes?: number
  /** The number of lines of the client's text before the push. */
  lineCount?: number
} & OneOf<{
  /** The whole text afterwards. */
  text: string
  /** Lines to replace; all refer to the text before the push. */
  lines: LineEdit[]
  /** Ranges to replace; all refer to the text before the push. */
  ranges: TextEdit[]
}>

/** An attachment. */
export interface NoteCloseParams {
  /** The attachment, as `note/open` numbered it. */
  attachment: number
}

/** A place in a text. */
export interface Position {
  /** From 0. Lines are what U+000A separates, and nothing else; the empty text has one line. */
  line: number
  /** From 0, in units of the position encoding, from the start of the line up to its length. Never inside a surrogate pair or a UTF-8 sequence. */
  character: number
}

/** What lies between two places. */
export interface Range {
  /** Where it begins. */
  start: Position
  /** Where it ends; not before `start`. */
  end: Position
}

/** A replacement. */
export interface TextEdit {
  /** What is replaced. */
  range: Range
  /** What replaces it. */
  newText: string
}

/** Where the cursors are in the text that the client shows. */
export interface NoteCursorParams {
  /** The attachment. */
  attachment: number
  /** The client's version. */
  version: number
  /** The last push that the client has applied. */
  rev: number
  /** A cursor is at `end`, which comes before `start` in a selection made backwards. The first 100 are taken. */
  ranges: Range[]
}

/** Who else is there, in the text that the client shows at these numbers. */
export interface NotePresenceParams {
  /** The attachment. */
  attachment: number
  /** The client's version. */
  version: number
  /** The last push that the client has applied. */
  rev: number
  /** The other participants that have told where their cursors are: attachments of this process, those of the user's other processes that have the notebook open on this machine, and those that links tell of. Of other processes at most 1,000. */
  peers: Peer[]
}

/** Another participant in a note: somebody's attachment, here or in another process or machine. Not a peer that changes are exchanged with. */
export interface Peer {
  /** The same as long as the attachment is open, and no other peer's. */
  id: string
  /** What its client or its user calls it: one line of at most 100 bytes, without control characters; absent if nobody calls it anything. Two may have the same. */
  name?: string
  /** From 0 to 15; the same for the same name everywhere and at any time. */
  color: number
  /** As its client has told them, where they are now; without those at text that has not come here yet. */
  ranges: Range[]
}

/** Another title. */
export interface NoteRenameParams {
  /** The note. */
  id: NoteId
  /** Its new title: one line of at most 4,096 bytes. */
  title: string
  /** Whether links get the new title, too; true where absent. */
  updateLinks?: boolean
  /** Whether nothing is changed, only told; false where absent. */
  dryRun?: boolean
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** Two notes. */
export interface NoteMergeParams {
  /** The note that stays. It is not in the trash. */
  id: NoteId
  /** The note that goes into the trash. It is another one, and not there. */
  from: NoteId
  /** Whether nothing is changed, only told; false where absent. */
  dryRun?: boolean
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** What has become of the links. */
export interface NoteRenameResult {
  /** The note, afterwards. */
  note: NoteSummary
  /** The state of the notebook after this request. */
  revision: Revision
  /** The notes whose links were changed, or would be, and where these stood before. */
  updated: LinkingNote[]
  /** The notes with links that were left alone, because another note has the old title, too, as title, alias or path. */
  ambiguous: LinkingNote[]
  /** Whether there are other notes in one of the two, left out because the answer has become 8 MiB long. */
  more: boolean
}

/** A note. */
export interface NoteLinksParams {
  /** The note. */
  id: NoteId
}

/** Links of a note. */
export interface NoteLinksResult {
  /** In the order of the text. */
  links: NoteLink[]
  /** Those in the header of its file, in the order of the fields' names. */
  headerLinks: HeaderLink[]
  /** Whether there are others, left out because the answer has become 8 MiB long. */
  more: boolean
}

/** A link to another note in a field of a header, between double brackets. */
export interface HeaderLink {
  /** The field that has it. */
  field: string
  /** What it names, as `notebook/resolve` takes it. */
  target: string
  /** What stands behind `#`. */
  heading?: string
  /** The note that is meant; null if there is none, or that is not certain. */
  id: NoteId | null
}

/** A link in a text. */
export interface NoteLink {
  /** Where it stands, brackets and all. */
  range: Range
  /** What it names, as `notebook/resolve` takes it: of a relative path the path from the folder of all files, if it does not lead out of that. */
  target: string
  /** The heading behind `#`; absent if there is none. */
  heading?: string
  /** The note that it leads to; null if there is none, or there are several. */
  id: NoteId | null
}

/** A note. */
export interface NoteBacklinksParams {
  /** The note. */
  id: NoteId
  /** The most notes to list, at least 1; all where absent. */
  limit?: number
}

/** Where links to a note come from. */
export interface NoteBacklinksResult {
  /** The one that was changed last comes first. */
  backlinks: LinkingNote[]
  /** Whether there are others, left out because of `limit` or because the answer has become 8 MiB long. */
  more: boolean
}

/** A note with links to another. */
export interface LinkingNote {
  /** The note with the links. */
  note: NoteSummary
  /** Where they stand, brackets and all, in the order of its text; the first 1,000. Empty if they are in the header of its file. */
  ranges: Range[]
  /** The fields of the header of its file that have such links; absent if none has. */
  fields?: string[]
  /** The line of the first one in the text, else in the header, or a part of it. */
  context: string
}

/** A name. */
export interface NotebookResolveParams {
  /** A name of a note, or what stands between the brackets of a link. */
  text: string
}

/** What a name stands for. */
export interface NotebookResolveResult {
  /** The note that is meant; null if there is none, or there are several. */
  id: NoteId | null
  /** All notes that may be meant, at most 1,000. */
  candidates: NoteSummary[]
}

/** What is to be completed. */
export interface NotebookCompleteParams {
  /** What they begin with, composed and without case; nothing where absent. */
  prefix?: string
  /** What is completed. */
  kind: CompletionKind
  /** The most results, at least 1; 100 where absent, and never more than 1,000. */
  limit?: number
}

/** What may be meant. */
export interface NotebookCompleteResult {
  /** In the order of what they are without case. */
  results: Completion[]
}

/** A title, an alias or a tag. */
export interface Completion {
  /** A title, an alias or a tag. */
  label: string
  /** The note that has the title or the alias. */
  id?: NoteId
  /** What to write between the brackets of a link so that it leads to that note: the label, or the note's id and the label as words, where another note has it, too, or it can't stand there. */
  target?: string
}

/** Tags. */
export interface NotebookTagsResult {
  /** In the order of their bytes. */
  tags: TagCount[]
}

/** How often a tag is used. */
export interface TagCount {
  /** The tag. */
  tag: string
  /** The number of notes that have it, those in the trash left out. */
  count: number
}

/** Everything may be left out. */
export interface NotebookListParams {
  /** Only notes that have all of these tags. */
  tags?: string[]
  /** Only notes of this priority. */
  priority?: Priority
  /** True: the trash instead of the notes; false where absent. */
  trashed?: boolean
  /** The order; that of `after` where absent, else "order". */
  sort?: NoteOrder
  /** How many notes to answer at most; all where absent. */
  limit?: number
  /** The `next` of an answer, of a list in the same order; or a note, behind which to begin as the list is now. */
  after?: string
}

/** What the notes are called. */
export interface NotebookFindParams {
  /** An id, a title, or the beginning of an id. A title is meant also in another of Unicode's canonically equivalent forms, if there is none in this one. */
  name: string
  /** True: the notes whose titles begin with the name, and no others; false where absent. */
  beginning?: boolean
  /** True: titles and beginnings are looked for in the trash instead; false where absent. */
  trashed?: boolean
  /** Only notes that have all of these tags. */
  tags?: string[]
  /** How many notes to answer at most; never more than 1,000. */
  limit?: number
}

/** The notes that go by the name. */
export interface NotebookFindResult {
  /** The oldest first, and of those that were created at one time in the same order everywhere. Where there are more than `limit`, the oldest; with `beginning`, any. */
  notes: NoteSummary[]
  /** Whether there are others, left out because of `limit`. */
  more: boolean
  /** The state that this is from. */
  revision: Revision
}

/** Some notes. */
export interface NotebookListResult {
  /** In the order that was asked for, as it was when the first page was answered. */
  notes: NoteSummary[]
  /** The state that this is from. */
  revision: Revision
  /** Present where there are more: what to ask with as `after`, here or of another process. It stays right whatever is moved, edited or deleted meanwhile. */
  next?: string
}

/** What is looked for. */
export interface NotebookSearchParams {
  /** What is looked for, of 1 to 1,000 bytes. With mode `words`: words between blanks, all of which must be there, in title or text, `"a phrase"` as one word, `title:word` in the title, `tag:word` a tag, `is:trashed` the trash; `-` before one of these is the contrary. With mode `text`: a text as it stands. No word may be nothing but marks. */
  query: string
  /** How the query is read; "words" where absent. */
  mode?: SearchMode
  /** The most matches to list, at least 1; all where absent. */
  limit?: number
}

/** How much of the log is wanted. */
export interface NotebookLogParams {
  /** The most entries to list, at least 1; all where absent. Entries of one change, of several notes, are not divided: then there may be more. */
  limit?: number
  /** Only entries before this revision, in logical time: that of the last entry of the page before. */
  before?: Revision
}

/** What happened in the notebook. */
export interface NotebookLogResult {
  /** The newest first, by the logical time of their last changes. */
  entries: LogEntry[]
  /** Whether there are others, left out because of `limit` or because the answer has become 8 MiB long. */
  more: boolean
}

/** What one author did with one note within some minutes, as in `HistoryEntry`. Of a note that was purged only that is told. */
export interface LogEntry {
  /** When the last of these changes was made, by its author's clock. */
  time: Time
  /** The state after the last of them, as its author saw it: `note/get` reads it, `note/restoreVersion` brings it back. */
  revision: Revision
  /** The note. */
  id: NoteId
  /** The title that the note has now; absent if it was purged. */
  title?: string
  /** What was done, each once. */
  what: WhatHappened[]
  /** Who did it; absent if no name is known. */
  author?: Author
}

/** What was found. */
export interface NotebookSearchResult {
  /** In the user's order. */
  matches: SearchMatch[]
  /** Whether there are others, left out because of `limit`, or because the result has 8 MiB. */
  more: boolean
}

/** A note in which it was found. */
export interface SearchMatch {
  /** The note. */
  note: NoteSummary
  /** Where it stands in the title, as if that were a text of one line; at most 1,000 places. */
  titleRanges: Range[]
  /** Where it stands in the text; at most 1,000 places. */
  ranges: Range[]
  /** The lines of the header of its file in which a word stands, each without the name of the field and at most 240 bytes; at most 20, absent where there are none. */
  headerLines?: string[]
  /** The line of the first of `ranges`, or a part of it, at most 240 bytes; where there is none, and none of `titleRanges`, the first of `headerLines`; else the first line that is not blank. */
  snippet: string
}

/** What the notebook holds and how it is. */
export interface NotebookStatusResult {
  /** The notebook's state. */
  revision: Revision
  /** The same as a version, which names the last change of every replica: what two replicas exchange to find out what the other lacks. Longer than a revision. */
  version: string
  /** Whether everything that was written is on disk for good. */
  durable: boolean
  /** What the answer to a change means: it is in the file and on its way to the disk (`background`), or on disk for good (`reply`). An option of the program. */
  durability: "background" | "reply"
  /** How many replicas have written in this notebook. */
  replicas: number
  /** How many notes there are, not counting the trash. */
  notes: number
  /** How many notes are in the trash. */
  trashed: number
  /** What of the folder could not be read. */
  damage: Damage[]
  /** Whether everything is here that the folder holds, or should hold. False while something can't be read, waits for changes that are missing, or was known to this user's programs and is gone: then a note that is not here proves nothing, and a text may be an old one. */
  complete: boolean
  /** Why this user can change nothing in the folder, which may be read: the folder and the cause. Absent where changes can be made. */
  unwritable?: string
  /** The sessions that stand for changes which other replicas know under another session's names, because two programs went on as one. */
  branches: string[]
  /** The peers that this process has exchanged changes with, or has tried to. */
  peers: PeerStatus[]
}

/** A replica that changes are exchanged with. */
export interface PeerStatus {
  /** As it was named in `notebook/sync` or on the command line. */
  peer: string
  /** When all was exchanged last; absent if it never was. */
  reached?: Time
  /** How many changes there are here that it did not have then. */
  owed?: number
  /** True while a link to it stands; absent otherwise. */
  live?: boolean
  /** Why the last exchange came to nothing; absent if it did not. */
  failure?: string
}

/** A part of a file that could not be read. */
export interface Damage {
  /** The file, relative to the notebook's folder. */
  path: string
  /** The byte from which it is damaged. */
  offset: number
  /** What is wrong, and what was kept. */
  description: string
  /** Of what kind it is. */
  cause: DamageCause
}

/** Everything may be left out. */
export interface NotebookChangesParams {
  /** A revision or a version, of any replica of this notebook; everything where absent. Where it names changes that are not known here, more is sent than needed, never less. What is neither is an error, -32602. */
  since?: string
  /** About how many bytes of changes to answer; a piece may exceed it where it cannot be divided. */
  limit?: number
  /** Asks for a part of the piece, from this byte on: for clients that take no message beyond a certain length. As long as the parts together are shorter than the result's `size`, ask again with the same `since` and `limit` and the offset where they end. Without it the piece comes in one message, however long. */
  offset?: number
  /** The digest of what both `since`, a version, and the replica asked have. If it isn't that of the replica asked, the request fails with `divergedSession`. The digest of a version is the first 8 bytes of SHA-256 of each session, 16 bytes, with its number and the digest of its changes up to there, 8 bytes each. */
  digest?: Digest
  /** Leaves out what these forks contest. Adds what the replica asked knows of each of them, under another session's name. */
  without?: Fork[]
}

/** A piece that can be merged by whoever has merged the pieces before it. */
export interface NotebookChangesResult {
  /** The changes; opaque. */
  changes: Base64
  /** The bytes of the whole piece, if `changes` is only a part of it. Absent unless the request has an `offset`. */
  size?: number
  /** What a replica at `since` will have got to by merging them: the next `since`. */
  revision: Revision
  /** Whether there are more. */
  more: boolean
}

/** Changes after `after` of `session`, and all that follow them, are contested: they mean something else on either side. */
export interface Fork {
  /** The session of which two replicas know different changes under the same names. */
  session: string
  /** The number of its last change that is the same for both; 0 if none is. */
  after: number
  /** The digest of its changes up to the first that differs, as the one who sends this knows them. */
  ours: Digest
  /** The same, as the one who receives this knows them. */
  theirs: Digest
}

/** What is asked about. */
export interface NotebookDigestsParams {
  /** Versions, all known to the replica asked; what is not is an error, -32602. */
  versions?: string[]
}

/** The digest of a session's first n changes is the first 8 bytes of SHA-256 of the digest before the n-th and of that change as it was encoded; that of none is 0. */
export interface NotebookDigestsResult {
  /** For each version the digests of its sessions up to their numbers, in the version's order, 8 bytes each. */
  digests: Base64[]
}

/** Since when. */
export interface NotebookFollowParams {
  /** What the client knows: a revision or a version. Absent from a client that follows already. */
  since?: string
}

/** What is known here. */
export interface NotebookFollowResult {
  /** The state of the notebook. */
  revision: Revision
  /** The digest of all that is known at this state. Absent while there is no notebook. */
  digest?: Digest
}

/** What is new. */
export interface NotebookNewChangesParams {
  /** As `notebook/changes` answers them. */
  changes: Base64
  /** Where in the piece this part of it begins, in bytes. */
  offset?: number
  /** The bytes of the whole piece, if `changes` is only a part of it. */
  size?: number
}

/** Whom the other side is told of. */
export interface NotebookPresenceParams {
  /** Each with its process and attachment, its name, its note and its selections, by elements of the text: the same in all replicas. One without selections has left. The bytes are described in `Sources/NotesServer/Presence/ToldParticipant.swift`. */
  participants: Base64
}

/** Changes from elsewhere. */
export interface NotebookMergeParams {
  /** What `notebook/changes` answered. What is not base64 is an error, -32602. */
  changes: Base64
  /** Whether changes of another notebook make the two notebooks one, for good, instead of being refused. */
  adopt?: boolean
  /** Where in the piece this part of it begins, in bytes. Parts come in their order, the first with 0, each after the answer to the one before or with it under way. Nothing is merged before the last. */
  offset?: number
  /** The bytes of the whole piece, if `changes` is only a part of it. At most 64 MiB: no change is larger. */
  size?: number
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** What came of it. */
export interface NotebookMergeResult {
  /** The state of the notebook after this request. */
  revision: Revision
  /** The notes that are no longer as they were. */
  changed: NoteId[]
}

/** Requests that are carried out together. */
export interface NotebookBatchParams {
  /** From one to 1,000 requests. */
  requests: BatchRequest[]
  /** A name the client gives this request. The same key again gets the same result and changes nothing, so a client may send again what it is not sure has arrived. The last 10,000 keys at least are remembered while the process lives, and those of requests that changed something without an attachment for a day, by all processes that know the change. */
  requestKey?: string
}

/** A request in a batch. */
export interface BatchRequest {
  /** Its method. */
  method: BatchMethod
  /** Those of its method, without `requestKey`. */
  params?: NoteCreateParams | NoteUpdateParams | NoteSetTextParams | NoteAppendParams | NoteMoveParams | NoteParams
}

/** What became of the requests. */
export interface NotebookBatchResult {
  /** The result of each request, in order: what was so after it. */
  results: (NoteResult | NoteSetTextResult | RevisionResult)[]
  /** The state of the notebook after the last request. */
  revision: Revision
}

/** Whose changes are taken back. */
export interface NotebookUndoParams {
  /** The name of the participant, as history has it; with whichever program. */
  by: string
  /** When it began, by the clocks of those who did it. Without a zone it is local; a day alone is its beginning. */
  since: Time
  /** True where it is only to be told what would be done. */
  dryRun?: boolean
  /** A name the client gives this request. The same key again gets the same result and changes nothing. The last 10,000 keys at least are remembered while the process lives. */
  requestKey?: string
}

/** What was taken back. */
export interface NotebookUndoResult {
  /** The notes that have changed by it, the oldest first. */
  notes: TakenBackNote[]
  /** Whether there are others, left out because the answer has become 8 MiB long. */
  more: boolean
  /** The state of the notebook after this request. */
  revision: Revision
}

/** A note of which something was taken back. */
export interface TakenBackNote {
  /** The note, as it is now. */
  note: NoteSummary
  /** What has changed of it. */
  what: WhatHappened[]
}

/** Everything may be left out. */
export interface NotebookFlushParams {
  /** The text that the user saves: its state is the end of an entry in `note/history`. */
  attachment?: number
  /** Asks for `$/progress` under this name. */
  workDoneToken?: ProgressToken
}

/** With whom. */
export interface NotebookSyncParams {
  /** Where the other replica is: `rclone:` and a remote of rclone's with a path; a folder, which is created if need be; or a command that speaks this protocol on its standard input and output, with the quotations of a shell. */
  peer: string
  /** Whether two notebooks that were begun independently become one, which has the notes of both, for good. Without it that is an error. */
  adopt?: boolean
  /** True: the link stays after the exchange, until this request is cancelled, which it may be after its answer, too; nothing stays where the exchange fails. Where one stands already it stays, after another exchange. False: a link to this peer ends, after another exchange, or without one if that fails. Where absent, nothing changes. */
  stay?: boolean
  /** Asks for `$/progress` under this name. */
  workDoneToken?: ProgressToken
}

/** What it took. Both are 0 where neither had anything new. */
export interface NotebookSyncResult {
  /** Bytes of changes that the peer has taken. */
  sent: number
  /** Bytes of changes that came from the peer. */
  received: number
  /** The state of the notebook now. */
  revision: Revision
}

/** From where. */
export interface NotebookImportParams {
  /** A folder, a file, or a file `notes.json` of Simplenote. `~` at its beginning is the user's home. */
  path: string
  /** Whether nothing is to be changed, only to be counted. */
  dryRun?: boolean
  /** Asks for `$/progress` under this name. */
  workDoneToken?: ProgressToken
}

/** How many files were read. */
export interface NotebookImportResult {
  /** New notes. */
  created: number
  /** Notes that have got something new. */
  updated: number
  /** Files that had nothing new. */
  unchanged: number
  /** What was left out. */
  skipped: SkippedFile[]
}

/** To where. */
export interface NotebookExportParams {
  /** A folder, which is created if need be. `~` at its beginning is the user's home. */
  path: string
  /** Whether the folder may have files that were not written by an export. They stay as they are, but for those that were imported and not changed since. */
  into?: boolean
  /** Whether the header of each file gets a line with the note's id, where it has none of another program. An import takes it for a field like any other. */
  ids?: boolean
  /** Asks for `$/progress` under this name. */
  workDoneToken?: ProgressToken
}

/** What is there. */
export interface NotebookMirrorResult {
  /** Files in the folder. */
  files: number
}

/** How many notes were written. */
export interface NotebookExportResult {
  /** Files that are new or were replaced. */
  written: number
  /** Files that had these bytes. */
  unchanged: number
  /** Files of notes that are gone, or have another file now. */
  removed: number
  /** What was left as it is. */
  skipped: SkippedFile[]
}

/** A file that was left out. */
export interface SkippedFile {
  /** Relative to the folder. */
  path: string
  /** Why, for programs. There may be others in later versions. */
  cause: SkipCause
  /** Why, in words, and what can be done. */
  reason: string
}

/** What has ended, and why. */
export interface NoteClosedParams {
  /** The attachment. */
  attachment: number
  /** "purged"; later versions may have other reasons. */
  reason: string
}

/** What changed. */
export interface NotebookDidChangeParams {
  /** The state of the notebook now. */
  revision: Revision
  /** Each note that changed, once. */
  changed: NoteDidChange[]
}

/** A note that changed. */
export interface NoteDidChange {
  /** The note. */
  id: NoteId
  /** In what respects, each once. */
  what: NoteAspect[]
  /** Who changed it; absent if several did, or if no name is known. */
  author?: Author
}

/** Who made changes, as `initialize` of their process or its command line has said. Names are not checked: anybody may call themselves anything. */
export interface Author {
  /** The person: one line of 1 to 100 bytes. */
  name: string
  /** The program: one line of 1 to 40 bytes. */
  program: string
}

/** A request. */
export interface CancelParams {
  /** The request's id. */
  id: number | string
}

/** A setting. */
export interface SetTraceParams {
  /** How much to tell. */
  value: TraceValue
}

/** What the server is doing. */
export interface LogTraceParams {
  /** In one line. */
  message: string
  /** In more; only with "verbose". */
  verbose?: string
}

/** A line for a person. */
export interface MessageParams {
  /** How much it matters. */
  type: MessageType
  /** The line. */
  message: string
}

/** How far a request has got. */
export interface ProgressParams {
  /** The request's `workDoneToken`. */
  token: ProgressToken
  /** First a begin, then reports, last an end. */
  value: WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd
}

/** Work has begun. */
export interface WorkDoneProgressBegin {
  /** "begin". */
  kind: "begin"
  /** What the work is. */
  title: string
  /** Whether `$/cancelRequest` can stop it; false where absent. */
  cancellable?: boolean
  /** What is being done. */
  message?: string
  /** From 0 to 100. */
  percentage?: number
}

/** Work goes on. */
export interface WorkDoneProgressReport {
  /** "report". */
  kind: "report"
  /** As in the begin. */
  cancellable?: boolean
  /** What is being done. */
  message?: string
  /** From 0 to 100. */
  percentage?: number
}

/** Work is over. */
export interface WorkDoneProgressEnd {
  /** "end". */
  kind: "end"
  /** What came of it. */
  message?: string
}

/** The `error` of a response. */
export interface ResponseError {
  /** What kind of error. */
  code: ErrorCodes
  /** For a person; names the field where a parameter is wrong. */
  message: string
  /** Present where `code` is -32803. */
  data?: FailureData
}

/** The `data` of error -32803. */
export interface FailureData {
  /** Which failure: what a program looks at. */
  reason: FailureReasons
}

/**
 * The codes of errors.
 * `-32700`: The message is no JSON, or deeper than 128 levels, or its frame is broken. The response's id is null.
 * `-32600`: JSON, but no request; a batch, with a response whose id is null; a second `initialize`; any request after `shutdown`.
 * `-32601`: No such method. A notification with an unknown method is dropped.
 * `-32602`: A parameter is missing, of the wrong type or of an impossible value; the message names it.
 * `-32603`: A mistake of the server's. The request changed nothing.
 * `-32002`: A request came before `initialize`.
 * `-32800`: `$/cancelRequest` stopped the request.
 * `-32801`: A `note/change` does not fit the text the server takes the client to show: send the whole text.
 * `-32803`: The request was understood and could not be done; `data.reason` says why.
 */
export type ErrorCodes =
  | -32700
  | -32600
  | -32601
  | -32602
  | -32603
  | -32002
  | -32800
  | -32801
  | -32803

/**
 * Why a request failed: `data.reason` of error -32803. Others may be added; a client that does not know one shows the message.
 * `"noSuchNote"`: No note has this id, or it had not been created at that revision.
 * `"purged"`: The note was forgotten for good.
 * `"notTrashed"`: The note is not in the trash.
 * `"readOnly"`: The attachment only observes, or the user may not write in the folder, or the disk cannot be written.
 * `"diskFull"`: There is no room to write; the request changed nothing.
 * `"writeFailed"`: The notebook's folder cannot be written for another reason; the request changed nothing.
 * `"notDurable"`: With `--durability reply`: the request was carried out, but what it changed is not on disk for good, nor can it be brought there at present.
 * `"confined"`: The process was started with `--confined`, and reaches nothing but the notes of one folder.
 * `"unusableFolder"`: `initialize` could neither read nor create the notebook's folder, or it is no folder.
 * `"unusableFile"`: The file is none that can be imported.
 * `"notEmpty"`: The folder has files that were not written by an export.
 * `"noMirror"`: This process mirrors no folder of files.
 * `"mirrored"`: Another process mirrors the folder.
 * `"mirrorStopped"`: Many files or notes are gone or have changed at once, and the user has not said that it is meant so.
 * `"incomplete"`: The notebook can't be read completely, or is older than the files: what these have was taken in, and none was removed or set back.
 * `"newerFormat"`: `initialize` found a folder that a later version of the program wrote; it was left as it is.
 * `"otherFormat"`: `initialize` found a folder that a build from before the first release wrote; it was left as it is.
 * `"damaged"`: `initialize` found a folder whose `decent.json` is not what it should be; it was left as it is.
 * `"tooLarge"`: One change of more than 64 MiB; the request changed nothing.
 * `"unknownBase"`: `base` names no state that is known here.
 * `"unknownRevision"`: `revision` names no state that is known here.
 * `"divergedSession"`: There and here are different changes under the same names, because two programs went on as one: copies of a running machine, a checkpoint, a forgery. Everything else was exchanged.
 * `"foreignNotebook"`: The changes are those of an unrelated notebook.
 * `"missingChanges"`: The changes follow others that are not here: ask again with a `since` that is.
 * `"damagedChanges"`: The changes are not what `notebook/changes` gives out: cut short, altered, or something else altogether.
 * `"invalidChanges"`: The changes are whole, but one of them breaks a rule that every author keeps, or is another than the one known under its name.
 * `"newerChanges"`: The changes are whole, but a later version of the program made one of them, and this one does not know all that it has.
 * `"peerUnreachable"`: The peer could not be reached, ended too early, or did not answer for 25 seconds.
 * `"badPeer"`: What answers there does not speak this protocol.
 * `"peerFailed"`: The peer has answered with an error; the message is its own.
 * `"reopen"`: The server does not know the attachment or the `rev`: open the note again.
 */
export type FailureReasons =
  | "noSuchNote"
  | "purged"
  | "notTrashed"
  | "readOnly"
  | "diskFull"
  | "writeFailed"
  | "notDurable"
  | "confined"
  | "unusableFolder"
  | "unusableFile"
  | "notEmpty"
  | "noMirror"
  | "mirrored"
  | "mirrorStopped"
  | "incomplete"
  | "newerFormat"
  | "otherFormat"
  | "damaged"
  | "tooLarge"
  | "unknownBase"
  | "unknownRevision"
  | "divergedSession"
  | "foreignNotebook"
  | "missingChanges"
  | "damagedChanges"
  | "invalidChanges"
  | "newerChanges"
  | "peerUnreachable"
  | "badPeer"
  | "peerFailed"
  | "reopen"
  | (string & {})

/** What may stand in a batch. */
export type BatchMethod =
  | "note/create"
  | "note/update"
  | "note/setText"
  | "note/append"
  | "note/move"
  | "note/delete"
  | "note/restore"

/**
 * How much a note matters.
 * `"low"`: Less than others.
 * `"normal"`: As much as others.
 * `"high"`: More than others.
 */
export type Priority =
  | "low"
  | "normal"
  | "high"

/**
 * Why something of a notebook is not here.
 * `"unreadable"`: The system refuses to read it at present.
 * `"damaged"`: Its bytes are not what the format says, or are of a later version.
 * `"refused"`: What it says breaks a rule, or contradicts what is known.
 * `"newer"`: A later version of the program has written it, and this one does not know all that it has. It stays in its file.
 * `"waiting"`: Changes follow others that no file has. `note/get`, `notebook/list`, `notebook/find` and `notebook/search` show what can be told without these.
 * `"missing"`: What this user's programs have known is in no file any more.
 */
export type DamageCause =
  | "unreadable"
  | "damaged"
  | "refused"
  | "newer"
  | "waiting"
  | "missing"

/**
 * Why a file or folder was left out.
 * `"link"`: A link to a file.
 * `"linkedFolder"`: A link to a folder.
 * `"name"`: Its name is not UTF-8.
 * `"path"`: No note can have its path.
 * `"utf16"`: It is UTF-16.
 * `"encoding"`: It is not UTF-8.
 * `"zero"`: There is U+0000 in it.
 * `"tooLarge"`: It is too large.
 * `"unreadable"`: It can't be read.
 * `"conflictCopy"`: A program that keeps folders equal has made it from another file.
 * `"entries"`: Entries of a file with several notes have no text that a note can have.
 * `"changed"`: Somebody else has written or changed it.
 * `"notebook"`: Its note can't be read at present, or is in what the notebook lacks.
 * `"unwritable"`: It can't be written.
 */
export type SkipCause =
  | "link"
  | "linkedFolder"
  | "name"
  | "path"
  | "utf16"
  | "encoding"
  | "zero"
  | "tooLarge"
  | "unreadable"
  | "conflictCopy"
  | "entries"
  | "changed"
  | "notebook"
  | "unwritable"

/**
 * The order of a list.
 * `"order"`: The user's own.
 * `"modified"`: The one that was changed last comes first.
 * `"created"`: The youngest comes first.
 * `"title"`: By title, without case and marks.
 */
export type NoteOrder =
  | "order"
  | "modified"
  | "created"
  | "title"

/**
 * How a query is read.
 * `"words"`: Words, phrases and filters.
 * `"text"`: One text, blanks and line feeds and all.
 */
export type SearchMode =
  | "words"
  | "text"

/**
 * What is completed.
 * `"link"`: A name in a link.
 * `"tag"`: A tag.
 */
export type CompletionKind =
  | "link"
  | "tag"

/**
 * Whether a client is going to change a text.
 * `"edit"`: It may.
 * `"observe"`: It never does; its version stays 0, so that no push is ever dropped.
 */
export type OpenMode =
  | "edit"
  | "observe"

/**
 * How a change says what is new.
 * `"text"`: By the whole text.
 * `"lines"`: By lines that are replaced.
 * `"ranges"`: By ranges that are replaced.
 */
export type EditForm =
  | "text"
  | "lines"
  | "ranges"

/**
 * How a push says what is new.
 * `"text"`: By the whole text.
 * `"lines"`: By lines that are replaced.
 * `"ranges"`: By ranges that are replaced.
 * `"rangesOrLines"`: By ranges that are replaced; by lines where there would be more than 200 ranges, each of them within a line and alone in it.
 */
export type PushForm =
  | "text"
  | "lines"
  | "ranges"
  | "rangesOrLines"

/**
 * How the two sides make sure that they mean the same text.
 * `"sha256"`: By its hash; a text of more than 262,144 bytes by its size, and by its hash when typing pauses.
 * `"length"`: By its size: `bytes` and `lineCount`.
 * `"none"`: Not at all: a missed edit goes unnoticed.
 */
export type CheckKind =
  | "sha256"
  | "length"
  | "none"

/**
 * How a client came back.
 * `"exact"`: The server knows what the client showed at these numbers: what was typed since is in the note, once.
 * `"merged"`: The client's text was merged as `note/setText` does it with the revision as `base` that had the text `baseText`, or, where that is not known, against `baseText` itself; or it was the note's. Nothing is lost.
 * `"conflict"`: Nobody knows what the client has changed. Its text is a note of its own, `copy`; the client is brought to what the note is.
 */
export type ResumeOutcome =
  | "exact"
  | "merged"
  | "conflict"

/**
 * The unit in which positions count.
 * `"utf-8"`: UTF-8 bytes.
 * `"utf-16"`: UTF-16 code units; the default.
 * `"utf-32"`: Code points.
 */
export type PositionEncodingKind =
  | "utf-8"
  | "utf-16"
  | "utf-32"

/**
 * In what respect a note changed.
 * `"title"`: Its title.
 * `"text"`: Its text.
 * `"tags"`: Its tags.
 * `"priority"`: Its priority.
 * `"position"`: Its place in the list.
 * `"trashed"`: It went to the trash, or came out of it.
 * `"purged"`: It was forgotten for good.
 * `"created"`: It is new.
 * `"path"`: Where its file is.
 * `"header"`: The front matter of its file.
 */
export type NoteAspect =
  | "title"
  | "text"
  | "tags"
  | "priority"
  | "position"
  | "trashed"
  | "purged"
  | "created"
  | "path"
  | "header"

/**
 * What was done with a note.
 * `"created"`: It was created, with all that it had from the beginning.
 * `"text"`: Its text was edited, or an edit undone.
 * `"title"`: It got a title.
 * `"tags"`: Tags were added or removed.
 * `"priority"`: It got a priority.
 * `"trash"`: It was put into the trash.
 * `"restore"`: It was taken out of the trash.
 * `"move"`: It got another place in the list.
 * `"purge"`: It was forgotten for good.
 * `"import"`: It was made from a file, or changed as a file was, by `notebook/import`.
 * `"header"`: The header of its file was written, or where that is. Only of what was taken back: `notebook/log` does not tell it.
 */
export type WhatHappened =
  | "created"
  | "text"
  | "title"
  | "tags"
  | "priority"
  | "trash"
  | "restore"
  | "move"
  | "purge"
  | "import"
  | "header"

/**
 * How much `$/logTrace` tells.
 * `"off"`: Nothing.
 * `"messages"`: A line for each message.
 * `"verbose"`: Each message in full.
 */
export type TraceValue =
  | "off"
  | "messages"
  | "verbose"

/**
 * How much a message matters.
 * `1`: Something went wrong.
 * `2`: Something may go wrong.
 * `3`: Something is worth knowing: for instance that changes can be saved again.
 * `4`: Something happened.
 */
export type MessageType =
  | 1
  | 2
  | 3
  | 4

/** Names a note, for ever and in every replica. Opaque. */
export type NoteId = string

/** Names a state of the notebook. Opaque; may be kept and handed back at any later time. The same knowledge has the same revision. As a rule it has at most 200 bytes. */
export type Revision = string

/** The first 8 bytes of a SHA-256, as 16 lower-case hexadecimal digits. */
export type Digest = string

/** ISO 8601, in UTC: "2026-01-01T00:00:00Z". */
export type Time = string

/** SHA-256 of a text's UTF-8 bytes: 64 digits of lower-case hexadecimal. */
export type Sha256 = string

/** Bytes in base64 (RFC 4648, section 4, padded). */
export type Base64 = string

/** A name that the client gives to work. */
export type ProgressToken = number | string

/** Start, end and the new lines: the lines from start up to but not including end are replaced. From 0; start = end inserts. A line holds no U+000A. */
export type LineEdit = [number, number, string[]]
