#!/usr/bin/env python3
"""A client for Decent Notes, and the reference for writing another one.

    with Client("~/Notes") as client:
        note = client.request("note/create", {"title": "Shopping"})["note"]
        shopping = Attachment(client, note["id"])
        shopping.set_text("milk\\neggs")

`LiveText` is the algorithm of a client, without input or output; `Connection` is JSON-RPC over two
byte streams, `Process` one to a decent-notes process, `Client` has such a process and starts
another one when it dies, `Attachment` is a note that is open. Protocol/README.md describes the
protocol.
"""
import argparse
import functools
import hashlib
import itertools
import json
import os
import pathlib
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future

CONTENT_MODIFIED = -32801
SHA256_LIMIT = 256 * 1024  # bytes; a longer text is checked by its size while someone types
RESTARTS, PERIOD = 5, 180  # how often a process is started again in so many seconds
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class ClientError(Exception):
    """Something a user can be told in one line: among others, that the server is gone."""


class ResponseError(ClientError):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data
        self.reason = data.get("reason") if isinstance(data, dict) else None


def splice(old, edits):
    """The pieces of `old` with each (start, end, new) put in; all places refer to `old` itself."""
    done = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if not done <= start <= end <= len(old):
            raise ValueError(f"no room for an edit from {start} to {end}")
        yield from (old[done:start], new)
        done = end
    yield old[done:]


def apply_lines(text, edits):
    """Lines are what `\\n` separates: an empty text has one line, and that is empty."""
    return "\n".join(itertools.chain.from_iterable(splice(text.split("\n"), edits)))


def apply_ranges(text, edits, encoding):
    lines, (codec, size) = text.split("\n"), CODECS[encoding]
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))

    def offset(line, character):
        data = lines[line].encode(codec) if 0 <= line < len(lines) else None
        if data is None or not 0 <= character * size <= len(data):
            raise ValueError(f"no position {line}:{character}")
        return starts[line] + len(data[: character * size].decode(codec))  # raises inside a scalar

    return "".join(splice(text, [(offset(**edit["range"]["start"]), offset(**edit["range"]["end"]),
                                  edit["newText"]) for edit in edits]))


def position(text, offset, encoding):
    """The protocol's position of an offset that counts code points."""
    codec, size = CODECS[encoding]
    line = text[:offset].rpartition("\n")[2]
    return {"line": text.count("\n", 0, offset), "character": len(line.encode(codec)) // size}


def facts(text):
    """What a message can say of a text, so that the other side can tell whether it has the same."""
    data = text.encode()  # raises a ValueError for a lone surrogate
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
            "lineCount": data.count(b"\n") + 1}


class LiveText:
    """The whole algorithm of a client, as a value: what happens goes in, what to send comes out.

    `version` counts the changes made here; `rev` names the last push applied here. A change says
    both, and from them the server knows which text the change was made to. A push for another
    version has crossed a change on its way: it is dropped, because the server sends a new one.
    What comes out are the parameters of `note/change`, all but the attachment. While the server is
    away nothing comes out; what to come back with is `resumption`.
    """

    def __init__(self, text, version=0, rev=0, encoding="utf-16", check="sha256", session=""):
        self.text, self.version, self.rev, self.session = text, version, rev, session
        self.encoding, self.check = encoding, check
        self.base = text  # what the server had when we last heard that it has everything
        self.unsent = False  # the server could not write: it lacks some change of ours
        self.away = False  # there is no server at present that knows what we show
        self._is_sure = True  # the last change had all the hash it needs
        self._answered = version  # up to which version it is known to have our changes
        self._whole_at = version  # the version that last brought the server our whole text

    @property
    def is_kept(self):
        """Whether the server has everything that was done here."""
        return not (self.unsent or self.away) and self._answered == self.version

    def replace(self, text):
        """The user's text is now this one. Returns the change to send."""
        return self._change(text, {"text": text})

    def edit(self, start, end, new):
        """The user replaced the code points from start up to end. Returns the change to send."""
        ends = {"start": position(self.text, start, self.encoding),
                "end": position(self.text, end, self.encoding)}
        text = self.text[:start] + new + self.text[end:]
        return self._change(text, {"ranges": [{"range": ends, "newText": new}]})

    def whole(self):
        """The text again, all of it: this is how a client heals."""
        return self.replace(self.text)

    def confirm(self):
        """For a long text, when the typing pauses: a change of nothing, with the hash. Or None."""
        if self._is_sure or self.away:
            return None
        change = self._change(self.text, {"ranges": []})
        self._is_sure = True
        return {**change, "sha256": facts(self.text)["sha256"]}

    def receive(self, push):
        """A `note/edit` came. Returns None, or the change to send because the push did not fit."""
        if push["version"] != self.version:
            return None  # it crossed a change of ours
        if any(push.get(name, value) != value for name, value in facts(self.text).items()):
            return self.whole()
        try:
            if "text" in push:
                self.text = push["text"]
            elif "lines" in push:
                self.text = apply_lines(self.text, push["lines"])
            else:
                self.text = apply_ranges(self.text, push["ranges"], self.encoding)
        except ValueError:
            return self.whole()
        self.rev, self.base = push["rev"], self.text

    def answered(self, version):
        """The change of this version was taken."""
        self._answered = version
        if version == self.version:
            self.base = self.text

    def refused(self, version, code):
        """The change of this version was answered by an error. Returns None or a change to send."""
        if self.away:
            return None  # the text that comes back has it
        if code != CONTENT_MODIFIED:
            self.unsent = True  # it did not happen; the next change brings the whole text
        elif version >= self._whole_at:  # else the text that heals this is on its way already
            return self.whole()

    def resumption(self):
        """What to open the note with when the server has died, or has forgotten us."""
        self.away, self._answered, self._offered = True, self.version, self.text
        return {"session": self.session, "version": self.version, "rev": self.rev,
                "text": self.text, "baseText": self.base}

    def resumed(self, session, rev):
        """It was opened. Returns None, or the change that brings what was typed meanwhile."""
        self.session, self.rev, self.base = session, rev, self._offered
        self.away = self.unsent = False
        self._whole_at = self._answered
        return None if self._answered == self.version else self.whole()

    def _change(self, text, form):
        if "\0" in text:
            raise ValueError("a note cannot hold U+0000")
        known = facts(text)
        hashed = self.check == "sha256" and known["bytes"] <= SHA256_LIMIT
        names = () if self.check == "none" else ("sha256",) if hashed else ("bytes", "lineCount")
        self.text, self.version = text, self.version + 1
        self._is_sure = hashed or self.check != "sha256"
        if self.unsent or "text" in form:
            form, self.unsent, self._whole_at = {"text": text}, False, self.version
        if self.away:
            return None
        return {"version": self.version, "rev": self.rev, **form, **{n: known[n] for n in names}}


def read_message(stream):
    """The next message of a stream, or None where the stream ends."""
    headers = {}
    while (line := stream.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value
    if not headers:
        return None
    body = stream.read(length := int(headers["content-length"]))
    if len(body) < length:
        raise ValueError("the stream ended inside a message")
    return json.loads(body)


class Connection:
    """JSON-RPC over two byte streams, with any number of requests under way.

    One thread reads, and calls back; it may send, but not wait for an answer. Another thread
    writes, so nobody ever waits for a pipe.
    """

    def __init__(self, incoming, outgoing, callbacks=None):
        self._incoming, self._outgoing, self._outbox = incoming, outgoing, queue.SimpleQueue()
        self._lock, self._ids = threading.Lock(), itertools.count(1)
        self._callbacks = {} if callbacks is None else callbacks  # method to functions
        self._pending, self.lost = {}, None  # id to (method, future, then); why there is no server
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._reader.start()
        self._writer.start()

    def request(self, method, params=None, timeout=None):
        """The result; raises ResponseError, or ClientError when the server is gone."""
        if threading.current_thread() is self._reader:
            raise RuntimeError("a callback cannot wait for an answer; use request_async")
        return self.request_async(method, params).result(timeout)

    def request_async(self, method, params=None, then=lambda result, error: None):
        """A Future. `then(result, error)` is called before any later message is looked at, or at
        once when the server is gone."""
        future = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            future.id = next(self._ids)  # what $/cancelRequest names
            if not self.lost:
                self._send({"id": future.id, "method": method, "params": params or {}})
                self._pending[future.id] = (method, future, then)
                return future
        self._settle(future, then, None, self.lost)
        return future

    def notify(self, method, params=None):
        with self._lock:
            self._send({"method": method, "params": params or {}})

    def on(self, method, callback):
        """Calls `callback(params)` for each notification of this method."""
        self._callbacks.setdefault(method, []).append(callback)

    def hang_up(self, timeout=None):
        """Closes our side once everything sent so far is out."""
        self._outbox.put(None)
        self._writer.join(timeout)

    def farewell(self):
        return "the server closed the connection"

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self._outbox.put(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def _write(self):
        try:
            with self._outgoing as stream:
                while data := self._outbox.get():
                    stream.write(data)
                    stream.flush()
        except OSError:
            pass  # the other side is gone, and the reading thread learns it too

    def _read(self):
        try:
            with self._incoming as stream:
                while (message := read_message(stream)) is not None:
                    self._dispatch(message)
            reason = self.farewell()
        except ResponseError as error:
            reason = f"the server refuses to listen: {error}"
        except Exception as error:
            reason = f"the server does not speak the protocol: {error!r}"
        with self._lock:
            self.lost = ClientError(reason)
        for method, future, then in self._pending.values():  # nobody knows whether it was done
            self._settle(future, then, None, ClientError(f"{reason}, before it answered {method}"))

    def _dispatch(self, message):
        if "method" in message:
            for callback in self._callbacks.get(message["method"], ()):
                self._call(callback, message.get("params", {}))
            return
        if error := message.get("error"):
            error = ResponseError(error["code"], error["message"], error.get("data"))
            if message["id"] is None:
                raise error  # what we sent was no message for it; which one, nobody can tell
        with self._lock:
            _, future, then = self._pending.pop(message["id"])
        self._settle(future, then, message.get("result"), error)

    def _settle(self, future, then, result, error):
        self._call(then, result, error)
        future.set_exception(error) if error else future.set_result(result)

    def _call(self, callback, *arguments):
        try:
            callback(*arguments)
        except Exception:  # one callback's mistake must not silence the connection
            sys.excepthook(*sys.exc_info())


def find_command():
    if os.environ.get("DECENT_NOTES_COMMAND"):
        return shlex.split(os.environ["DECENT_NOTES_COMMAND"])
    builds = pathlib.Path(__file__).resolve().parents[2] / ".build"
    for program in "decent-notes", builds / "release/decent-notes", builds / "debug/decent-notes":
        if found := shutil.which(program):
            return [found]
    raise ClientError("decent-notes was not found: put it on PATH or set DECENT_NOTES_COMMAND")


class Process(Connection):
    """A decent-notes process and the connection to it. Calls `ended(self)` when it is gone."""

    def __init__(self, words, callbacks, ended):
        self._program, self._ended, self._errors = words[0], ended, tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            start_new_session=True)  # so that Ctrl-C comes to us, and we end the server in order
        super().__init__(self.process.stdout, self.process.stdin, callbacks)

    def farewell(self):
        try:
            ended = f"ended with status {self.process.wait(5)}"
        except subprocess.TimeoutExpired:
            ended = "fell silent"
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        return f"{self._program} {ended}" + (last and f": {last}")

    def end(self):
        self.hang_up(10)
        self._reader.join(10)  # it waits for the process
        self.process.kill()
        self._reader.join(10)

    def _read(self):
        super()._read()
        self.process.kill()  # two that serve one client would not know of each other's changes
        self.process.wait()
        self._errors.close()
        self._ended(self)


class Client:
    """Notes by way of a decent-notes process, which is started on entering `with` and ended on
    leaving it. If it dies in between, another one takes its place: requests under way fail, because
    nobody knows whether they were done, and notes that are open stay so."""

    def __init__(self, notebook=None, command=None, encodings=("utf-32", "utf-8", "utf-16")):
        self._words, self.encodings = list(command or find_command()), list(encodings)
        if not shutil.which(self._words[0]):
            raise ClientError(f"there is no program {self._words[0]}")
        if notebook is not None:
            self._words += ["--notebook", os.path.expanduser(notebook)]
        self.attachments, self.server = set(), None
        self._lock, self._restarts, self._leaving = threading.RLock(), [], False
        self._callbacks = {"note/edit": [self._edited], "window/showMessage": [self._told]}

    def __enter__(self):
        initialized = self._start()
        try:
            initialized.result()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        """Ends the process. Where there is an error already, only what tells where a text is kept
        comes on top of it."""
        problems = []
        for attachment in list(self.attachments):
            try:
                attachment.close()
            except ClientError as error:
                problems.append(str(error))
        self._leaving = True
        try:
            self.request("shutdown", timeout=60)
            self.connection.notify("exit")
        except Exception:
            if kind is None and not problems:
                raise
        finally:
            self.connection.end()
        if problems:
            raise ClientError("; ".join(problems))

    @property
    def connection(self):
        """To the process of now; while another one is being started, this waits for it."""
        with self._lock:
            return self._process

    def request(self, method, params=None, timeout=None):
        return self.connection.request(method, params, timeout)

    def on(self, method, callback):
        self._callbacks.setdefault(method, []).append(callback)

    def _start(self):
        with self._lock:
            self._process = Process(self._words, self._callbacks, self._ended)
            return self._process.request_async("initialize", {
                "processId": os.getpid(), "clientInfo": {"name": "decent_notes.py"},
                "capabilities": {"general": {"positionEncodings": self.encodings}}},
                functools.partial(self._initialized, self._process))

    def _initialized(self, process, result, error):
        if result:
            self.server = result
            self.encoding = result["capabilities"].get("positionEncoding", "utf-16")
            process.notify("initialized")
        for attachment in list(self.attachments):
            if result:
                attachment.resume(process)
            elif isinstance(error, ResponseError):  # else it has died as well
                attachment.lost(error)

    def _ended(self, process):
        """Called when the process is gone, after all that was under way has failed."""
        failure, now = process.lost, time.monotonic()
        for attachment in list(self.attachments):
            attachment.lost()
        with self._lock:
            self._restarts = [then for then in self._restarts if now - then < PERIOD]
            if len(self._restarts) == RESTARTS:
                failure = ClientError(f"{failure}, as did {RESTARTS} before it")
            elif self.server and not self._leaving:
                self._restarts.append(now)
                try:
                    return self._start()
                except OSError as error:
                    failure = ClientError(f"{failure}, and cannot be started again: {error}")
        for attachment in list(self.attachments):
            attachment.lost(failure)

    def _edited(self, push):
        for attachment in list(self.attachments):
            if attachment.number == push["attachment"]:
                attachment.receive(push)

    def _told(self, message):
        for attachment in list(self.attachments):
            if message["type"] >= 3:  # good news, perhaps
                attachment.retry()


class Attachment:
    """A note that is open, even while the server is away. Any thread may use it.

    `on_change(text)` tells of others' changes; `on_resume(how, copy)` that another server knows the
    note now: "exact", "merged", or "conflict", and then `copy` is the note that has the text.
    """

    def __init__(self, client, note, mode="edit", push="ranges", check="sha256"):
        self.client, self.note, self.on_change, self.on_resume = client, note, None, None
        self._options = {"id": note, "mode": mode, "push": push, "check": check}
        self._news = threading.Condition()  # with a lock that may be taken again
        self._live = self.number = self._failure = None  # _failure: what keeps us away, or unsent
        self._open(client.connection).result()

    def _open(self, connection, **resume):
        return connection.request_async("note/open", {**self._options, **resume},
                                        functools.partial(self._opened, connection))

    def _opened(self, connection, result, error):
        """Called before the next message is read, which may be a push for us."""
        with self._news:
            if error:  # if it died, the client goes on
                self._failure = error if isinstance(error, ResponseError) else None
                return self._news.notify_all()
            self._connection, self.number = connection, result["attachment"]
            self.read_only, self._failure = result["readOnly"], None
            if not (before := self._live):
                self.client.attachments.add(self)
            if "resumed" in result:
                self._send(self._live.resumed(result["session"], result["rev"]))
            else:
                self._live = LiveText(result["text"], result["version"], result["rev"],
                                      self.client.encoding, self._options["check"],
                                      result["session"])
            self._news.notify_all()
        if "resumed" in result and self.on_resume:
            self.on_resume(result["resumed"], result.get("copy"))
        if before and before.text != self.text and self.on_change:
            self.on_change(self.text)

    @property
    def text(self):
        return self._live.text

    def set_text(self, text):
        """Makes this the text; the server finds out what changed."""
        self._change(lambda live: live.replace(text))

    def edit(self, start, end, new):
        """Replaces the code points from start up to end."""
        self._change(lambda live: live.edit(start, end, new))

    def undo(self, method="note/undo"):
        """Takes back the last change made here and nobody else's; whether there was one."""
        if self.number is None:
            raise ClientError("the server is away")
        return self._connection.request(method, {"attachment": self.number})["done"]

    def redo(self):
        """Makes again what was taken back last; whether there was something."""
        return self.undo("note/redo")

    def settle(self, timeout=30):
        """Waits until the server has all that was done here; raises what keeps it from that."""
        with self._news:
            self.retry()
            self._send(self._live.confirm())
            self._news.wait_for(lambda: self._live.is_kept or self._failure, timeout)
            if not self._live.is_kept:
                raise self._failure or ClientError("the server does not answer")

    def close(self):
        """Raises, if the server does not take the text, where it is kept."""
        if self not in self.client.attachments:
            return
        try:
            if not self.read_only:
                self.settle()
        except ClientError as error:
            raise ClientError(f"{error}; the text is kept in {self._keep()}") from error
        finally:
            self.client.attachments.discard(self)
        self._connection.request_async("note/close", {"attachment": self.number})

    def receive(self, push):
        with self._news:
            rev = self._live.rev
            self._send(self._live.receive(push))
            applied, text = self._live.rev != rev, self._live.text
        if applied and self.on_change:
            self.on_change(text)

    def lost(self, failure=None):
        """The server is gone, and with a failure it will not come back by itself."""
        with self._news:
            self.number, self._live.away, self._failure = None, True, failure
            self._news.notify_all()

    def resume(self, connection):
        """Goes on with a server that does not know us. One who only looks starts anew."""
        with self._news:
            self.lost()
            self._connection = connection
            resume = {} if self.read_only else {"resume": self._live.resumption()}
            self._open(connection, **resume)

    def retry(self):
        """Tries again what could not be done, if there was something."""
        with self._news:
            if not self._live.away:
                self._send(self._live.whole() if self._live.unsent else None)
            elif self._failure and not self._connection.lost:
                self.resume(self._connection)

    def _change(self, make):
        if self.read_only:
            raise ClientError("this note is open for reading only")
        with self._news:  # made and queued in one go: versions leave in order
            self._send(make(self._live))

    def _send(self, change):
        if change:
            self._failure = None
            self._connection.request_async(
                "note/change", {"attachment": self.number, **change},
                functools.partial(self._answered, self._connection, change["version"]))

    def _answered(self, connection, version, _, error):
        with self._news:
            if connection is not self._connection or self._live.away:
                return
            if not error:
                self._live.answered(version)
            elif getattr(error, "reason", None) == "reopen":
                self.resume(connection)
            else:
                self._send(self._live.refused(version, getattr(error, "code", None)))
                if self._live.unsent and isinstance(error, ResponseError):
                    self._failure = error
            self._news.notify_all()

    def _keep(self):
        state = pathlib.Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
        folder = state / "decent-notes" / "unsent"
        folder.mkdir(0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(".txt", f"{self.note}-", folder)  # for our eyes only
        with open(handle, "wb") as file:
            file.write(self.text.encode())
        return name


def resolve(client, name):
    """The id of the note that an id, a title, or the beginning of an id names."""
    known = [note for trashed in (False, True)
             for note in client.request("notebook/list", {"trashed": trashed})["notes"]]
    found = ([note["id"] for note in known if name in (note["id"], note["title"])]
             or [note["id"] for note in known if note["id"].startswith(name)])
    if len(found) != 1:
        ids = ": " * bool(found) + ", ".join(found[:10]) + ", ..." * (len(found) > 10)
        raise ClientError(f"{len(found) or 'no'} notes go by the name {name!r}{ids}")
    return found[0]


def print_json(value):
    print(json.dumps(value, ensure_ascii=False, indent=2))


def list_notes(client, options):
    found = client.request("notebook/list", {"trashed": options.trash})["notes"]
    if options.json:
        return print_json(found)
    for order, n in enumerate(found):
        print(order, n["id"], n["title"], ",".join(n["tags"]), n["priority"], sep="\t")


def search_notes(client, options):
    found = client.request("notebook/search", {"query": options.TEXT})["matches"]
    if options.json:
        return print_json(found)
    for match in found:
        print(match["note"]["id"], match["note"]["title"], match["snippet"], sep="\t")


def new_note(client, options):
    text = sys.stdin.buffer.read().decode() if options.text == "-" else options.text
    print(client.request("note/create", {"title": options.TITLE, "text": text})["note"]["id"])


def show_note(client, options):
    then = {"revision": options.revision} if options.revision else {}
    text = client.request("note/get", {"id": resolve(client, options.NOTE), **then})["text"]
    # A file or a pipe gets the text as it is; in a terminal the prompt would follow its last line.
    end = "\n" * (sys.stdout.isatty() and bool(text) and not text.endswith("\n"))
    sys.stdout.buffer.write((text + end).encode())


def show_history(client, options):
    for e in client.request("note/history", {"id": resolve(client, options.NOTE)})["entries"]:
        print(e["revision"], e["time"], f"+{e['inserted']}", f"-{e['deleted']}", sep="\t")


def append_text(client, options):
    """What comes begins a line, as it does where files are appended to."""
    note, text = resolve(client, options.NOTE), sys.stdin.buffer.read().decode()
    before = client.request("note/get", {"id": note})["text"]
    start = "\n" if text and before and not before.endswith("\n") else ""
    client.request("note/append", {"id": note, "text": start + text})


def edit_note(client, options):
    """The text goes out at a revision and comes back with it, so others may edit meanwhile."""
    note = resolve(client, options.NOTE)
    fetched = client.request("note/get", {"id": note})
    file = pathlib.Path(tempfile.mkdtemp(prefix="decent-notes-")) / "note.md"
    file.write_bytes(fetched["text"].encode())
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    interrupted = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the editor's meanwhile
    try:
        try:
            status = subprocess.call([*shlex.split(editor), str(file)])
        finally:
            signal.signal(signal.SIGINT, interrupted)
        if status:
            raise ClientError(f"{editor} ended with status {status}")
        text = without_last_line_end(file.read_bytes().decode(), fetched["text"])
        if text != fetched["text"]:
            change = {"id": note, "text": text, "base": fetched["revision"]}
            kept = client.request("note/setText", change)["text"]
            print("saved" + ", merged with what others changed" * (kept != text)
                  + ", taken out of the trash" * fetched["note"]["trashed"])
    except (Exception, KeyboardInterrupt) as error:
        if not file.exists() or file.read_bytes() == fetched["text"].encode():
            shutil.rmtree(file.parent)
            raise
        raise ClientError(f"{error or 'interrupted'}; the text is kept in {file}") from error
    shutil.rmtree(file.parent)


def without_last_line_end(text, before):
    """A line end after the last line is the editor's, unless the text had one before."""
    if before.endswith("\n") or not text.endswith("\n"):
        return text
    return text[:-2] if text.endswith("\r\n") and "\r\n" in before else text[:-1]


def change_note(method, params=lambda options: {}):
    def action(client, options):
        client.request(method, {"id": resolve(client, options.NOTE), **params(options)})
    return action


def tag_changes(options):
    if not all(tag[:1] in ("+", "-") for tag in options.TAG):
        raise ClientError("a tag is added by +TAG and removed by -TAG")
    return {"tags": {name: [tag[1:] for tag in options.TAG if tag[0] == sign]
                     for name, sign in (("add", "+"), ("remove", "-"))}}


def call_method(client, options):
    print_json(client.request(options.METHOD, json.loads(options.PARAMS)))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ClientError(f"{message} (--help explains)")


def main(arguments=None):
    parser = Parser(prog="decent_notes.py", description="Reads and edits the notes of a notebook.")
    parser.add_argument("--notebook", metavar="DIR", help="the notebook's folder")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    settings = {"--json": {"action": "store_true", "help": "as JSON, with all there is"},
                "--trash": {"action": "store_true", "help": "those in the trash"},
                "--text": {"default": "", "help": "its text; - reads it from standard input"},
                "--revision": {"help": "as it was then; history has the revisions"},
                "NOTE": {"help": "an id, the beginning of an id, or a title"},
                "PLACE": {"type": int, "help": "its place in the list afterwards, from 0"},
                "TAG": {"nargs": argparse.REMAINDER, "help": "+TAG adds it, -TAG removes it"},
                "PRIORITY": {"help": "low, normal or high"},
                "PARAMS": {"nargs": "?", "default": "{}", "help": "a JSON object"}}
    for name, action, help, *expected in (
            ("list", list_notes, "list the notes: order, id, title, tags, priority",
             "--json", "--trash"),
            ("search", search_notes, "list the notes with a text: id, title, line",
             "TEXT", "--json"),
            ("new", new_note, "create a note and print its id", "TITLE", "--text"),
            ("show", show_note, "print a note's text", "NOTE", "--revision"),
            ("edit", edit_note, "edit a note in $VISUAL or $EDITOR", "NOTE"),
            ("append", append_text, "add lines from standard input to a note", "NOTE"),
            ("history", show_history, "list what happened: revision, time, bytes", "NOTE"),
            ("title", change_note("note/update", lambda o: {"title": o.TITLE}),
             "give a note another title", "NOTE", "TITLE"),
            ("tag", change_note("note/update", tag_changes), "add and remove tags", "NOTE", "TAG"),
            ("priority", change_note("note/update", lambda o: {"priority": o.PRIORITY}),
             "give a note a priority", "NOTE", "PRIORITY"),
            ("move", change_note("note/move", lambda o: {"index": o.PLACE}),
             "give a note its place in the list", "NOTE", "PLACE"),
            ("delete", change_note("note/delete"), "put a note into the trash", "NOTE"),
            ("restore", change_note("note/restore"), "take a note out of the trash", "NOTE"),
            ("call", call_method, "send a request and print its result", "METHOD", "PARAMS")):
        command = commands.add_parser(name, help=help, description=help)
        command.set_defaults(action=action)
        for argument in expected:
            command.add_argument(argument, **settings.get(argument, {}))
    try:
        options = parser.parse_args(arguments)
        with Client(options.notebook) as client:
            options.action(client, options)
        sys.stdout.flush()
    except (ClientError, OSError, ValueError) as error:
        reason = f" ({error.reason})" if getattr(error, "reason", None) else ""
        print(f"decent_notes.py: {' '.join(str(error).split())}{reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
