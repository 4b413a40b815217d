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
SHA256_LIMIT = 256 * 1024  # bytes; a longer text is checked by its size while the user types
LONGEST_HEADERS, LONGEST_MESSAGE = 8 * 1024, 256 * 1024 * 1024  # bytes; longer ones are none of our program's
SOME = 64  # requests that are under way at once, where there are many
RESTARTS, PERIOD = 5, 180  # automatic restarts at most in so many seconds
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class ClientError(Exception):
    """An error whose message is one line for the user; among others, the server is gone."""


class ResponseError(ClientError):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.message, self.data = code, message, data
        self.reason = data.get("reason") if isinstance(data, dict) else None


def splice(old, edits):
    """Applies each (start, end, new) to `old`, to which all places refer. Returns the pieces."""
    done = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if not done <= start <= end <= len(old):
            raise ValueError(f"no room for an edit from {start} to {end}")
        yield from (old[done:start], new)
        done = end
    yield old[done:]


def apply_lines(text, edits):
    """Applies edits of lines. `\\n` separates lines: an empty text has one line, which is empty."""
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
    """Hash and size of a text, by which the other side can check that it has the same."""
    data = text.encode()  # raises a ValueError for a lone surrogate
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
            "lineCount": data.count(b"\n") + 1}


class LiveText:
    """The algorithm of a client, without input or output. clients/README.md has the table of the
    fields, the states, and the transitions.

    Methods that return a change return the parameters of `note/change` without `attachment`, or
    None if there is nothing to send. While the note is detached nothing is sent.
    """

    def __init__(self, text, version=0, rev=0, encoding="utf-16", check="sha256", resume_token=""):
        self.text, self.version, self.rev, self.resume_token = text, version, rev, resume_token
        self.encoding, self.check = encoding, check
        self.base = text
        self.needs_whole = False
        self.is_detached = False
        self._is_hashed = True  # the last change had the hash, or needs none
        self._answered = self._whole = version

    @property
    def has_unsent(self):
        """True if the server lacks something that was done here, as far as it has answered."""
        return self.needs_whole or self._answered != self.version

    @property
    def is_settled(self):
        """True if the server has everything that was done here."""
        return not (self.is_detached or self.has_unsent)

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
        """Sends the whole text again: after this the server has the same text."""
        return self.replace(self.text)

    def confirm(self):
        """When the typing pauses: a change of nothing, with the hash that a long text lacks."""
        if self._is_hashed or self.is_detached:
            return None
        change = self._change(self.text, {"ranges": []})
        self._is_hashed = True
        return {**change, "sha256": facts(self.text)["sha256"]}

    def take_push(self, push):
        """A `note/edit` came. Returns the whole text as a change if the push does not fit."""
        if push["version"] != self.version:
            return None  # it has crossed a change; the server sends another one
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

    def take_answer(self, version, error_code=None):
        """The server has answered the change of this version. May return a change to send."""
        if self.is_detached:
            return None  # `resume` sends everything
        self._answered = version
        if error_code is None:
            if version == self.version:
                self.base = self.text
        elif error_code != CONTENT_MODIFIED:
            self.needs_whole = True
        elif version >= self._whole:  # otherwise the whole text was sent after this change
            return self.whole()

    def resume(self):
        """Returns the parameter `resume` of `note/open`, for another server or the same one."""
        self.is_detached, self._answered, self._resumed = True, self.version, self.text
        return {"session": self.resume_token, "version": self.version, "rev": self.rev,
                "text": self.text, "baseText": self.base}

    def take_resumed(self, resume_token, rev):
        """The note is open again. Returns the change that has what was typed meanwhile, if any."""
        self.resume_token, self.rev, self.base = resume_token, rev, self._resumed
        self.is_detached = self.needs_whole = False
        self._whole = self._answered
        return None if self._answered == self.version else self.whole()

    def _change(self, text, form):
        if "\0" in text:
            raise ValueError("a note cannot hold U+0000")
        known = facts(text)
        hashed = self.check == "sha256" and known["bytes"] <= SHA256_LIMIT
        names = () if self.check == "none" else ("sha256",) if hashed else ("bytes", "lineCount")
        self.text, self.version = text, self.version + 1
        self._is_hashed = hashed or self.check != "sha256"
        if self.needs_whole or "text" in form:
            form, self.needs_whole, self._whole = {"text": text}, False, self.version
        if self.is_detached:
            return None
        return {"version": self.version, "rev": self.rev, **form, **{n: known[n] for n in names}}


def read_message(stream):
    """The next message of a stream; None at the end of the stream."""
    headers, left = {}, LONGEST_HEADERS
    while (line := stream.readline(left + 1)).strip():
        name, colon, value = line.decode("latin-1").partition(":")
        if (left := left - len(line)) < 0:
            raise ValueError("headers that do not end")
        if not colon:
            raise ValueError(f"no header: {name.strip()[:60]}")
        headers[name.strip().lower()] = value
    if not headers:
        return None
    if (length := int(headers["content-length"])) > LONGEST_MESSAGE:
        raise ValueError(f"a message of {length} bytes")
    body = stream.read(length)
    if len(body) < length:
        raise ValueError("the stream ended inside a message")
    return json.loads(body)


class Connection:
    """JSON-RPC over two byte streams, with any number of requests under way.

    One thread reads, and calls back; it may send, but not wait for an answer. Another thread
    writes, so that no caller ever waits for a pipe.
    """

    def __init__(self, incoming, outgoing, callbacks=None):
        self._incoming, self._outgoing, self._outbox = incoming, outgoing, queue.SimpleQueue()
        self._lock, self._ids = threading.Lock(), itertools.count(1)
        self._callbacks = {} if callbacks is None else callbacks  # method to functions
        self._pending, self.lost = {}, None  # id to (method, future, then); the error of the end
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
        """A Future. `then(result, error)` is called before any later message is handled, or at
        once if the server is gone."""
        future = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            future.id = next(self._ids)  # for $/cancelRequest
            if not self.lost:
                self._send({"id": future.id, "method": method, "params": params or {}})
                self._pending[future.id] = (method, future, then)
                return future
        self._complete(future, then, None, self.lost)
        return future

    def notify(self, method, params=None):
        with self._lock:
            self._send({"method": method, "params": params or {}})

    def on(self, method, callback):
        """Calls `callback(params)` for each notification of this method."""
        self._callbacks.setdefault(method, []).append(callback)

    def hang_up(self, timeout=None):
        """Closes our side after everything that was sent so far is written."""
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
        for method, future, then in self._pending.values():  # these may have been done, or not
            self._complete(future, then, None, ClientError(f"{reason}, before it answered {method}"))

    def _dispatch(self, message):
        if "method" in message:
            for callback in self._callbacks.get(message["method"], ()):
                self._call(callback, message.get("params", {}))
            return
        if error := message.get("error"):
            error = ResponseError(error["code"], error["message"], error.get("data"))
            if message["id"] is None:
                raise error  # something that we sent was no message; there is no telling which
        with self._lock:
            _, future, then = self._pending.pop(message["id"])
        self._complete(future, then, message.get("result"), error)

    def _complete(self, future, then, result, error):
        self._call(then, result, error)
        future.set_exception(error) if error else future.set_result(result)

    def _call(self, callback, *arguments):
        try:
            callback(*arguments)
        except Exception:  # an error of one callback must not end the connection
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
        self.process.kill()  # two processes of one client would not know each other's changes
        self.process.wait()
        self._errors.close()
        self._ended(self)


class Client:
    """Notes, by a decent-notes process. `with` starts the process and ends it.

    If the process dies in between, another one takes its place. Requests without an answer fail,
    though they may have been done. Open notes stay open."""

    def __init__(self, notebook=None, command=None, encodings=("utf-32", "utf-8", "utf-16")):
        self._words, self.encodings = list(command or find_command()), list(encodings)
        if not shutil.which(self._words[0]):
            raise ClientError(f"there is no program {self._words[0]}")
        if notebook is not None:
            self._words += ["--notebook", os.path.expanduser(notebook)]
        self.attachments, self.server = set(), None
        self._lock, self._restarts, self._leaving = threading.RLock(), [], False
        self._tokens, self._reports = itertools.count(1), {}  # functions of progress, by token
        self._callbacks = {"note/edit": [self._edited], "note/closed": [self._closed],
                           "window/showMessage": [self._told], "$/progress": [self._reported]}

    def __enter__(self):
        initialized = self._start()
        try:
            initialized.result()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        """Ends the process. If there is an error already, it is replaced only by one that says in
        which file a text is kept."""
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
        """The connection to the present process. Waits while another one is being started."""
        with self._lock:
            return self._process

    def request(self, method, params=None, timeout=None):
        return self.connection.request(method, params, timeout)

    def on(self, method, callback):
        self._callbacks.setdefault(method, []).append(callback)

    def import_(self, path, dry_run=False, on_progress=None):
        """Makes notes of the files at a path; returns the counts, and the files that were skipped.

        `on_progress(words)` is called now and then, by the thread that reads."""
        params = {"path": os.path.abspath(os.path.expanduser(path)), "dryRun": dry_run}
        return self._work("notebook/import", params, on_progress)

    def export(self, path, into=False, on_progress=None):
        """Writes the notes as files into a folder: beside files of others only with `into`."""
        params = {"path": os.path.abspath(os.path.expanduser(path)), "into": into}
        return self._work("notebook/export", params, on_progress)

    def purge(self, *notes, on_progress=None):
        """Forgets notes of the trash for good: all these ids, some of them at once. Returns the
        errors, by the notes' ids, of those that are not forgotten."""
        connection, free, errors, done = self.connection, threading.Semaphore(SOME), {}, []

        def answered(note, _, error):
            done.append(note)
            if error and getattr(error, "reason", None) not in ("purged", "noSuchNote"):
                errors[note] = error
            free.release()
            if on_progress:
                on_progress(f"{len(done)} of {len(notes)}")

        for note in notes:
            free.acquire()
            connection.request_async("note/purge", {"id": note}, functools.partial(answered, note))
        for _ in range(SOME):  # until the last ones are answered
            free.acquire()
        return errors

    def _work(self, method, params, on_progress):
        """A request that tells how far it is. If the user interrupts it, it is cancelled; what was
        done by then stays."""
        connection, token = self.connection, next(self._tokens)
        self._reports[token] = on_progress or (lambda words: None)
        answer = connection.request_async(method, {**params, "workDoneToken": token})
        try:
            return answer.result()
        except KeyboardInterrupt:
            connection.notify("$/cancelRequest", {"id": answer.id})
            answer.exception(5)
            raise
        finally:
            del self._reports[token]

    def _reported(self, report):
        if (tell := self._reports.get(report["token"])) and "message" in report["value"]:
            tell(report["value"]["message"])

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
            elif isinstance(error, ResponseError):  # otherwise this process has died as well
                attachment.detach(error)

    def _ended(self, process):
        """The process is gone, and all requests without an answer have failed."""
        failure, now = process.lost, time.monotonic()
        for attachment in list(self.attachments):
            attachment.detach()
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
            attachment.detach(failure)

    def _edited(self, push):
        for attachment in list(self.attachments):
            if attachment.number == push["attachment"]:
                attachment.take_push(push)

    def _closed(self, closed):
        for attachment in list(self.attachments):
            if attachment.number == closed["attachment"]:
                attachment.end(ClientError(f"the note was {closed['reason']}"))

    def _told(self, message):
        for attachment in list(self.attachments):
            if message["type"] >= 3:  # the disk may take changes again
                attachment.send_unsent()


class Attachment:
    """An open note; it stays open while there is no server. Any thread may use it.

    `on_change(text)` is called after a change by others. `on_resume(how, copy)` is called when
    another server has the note open: `how` is "exact", "merged", or "conflict"; after a conflict
    the note `copy` has the text. A note that is purged has ended: `ended` says so, `text` stays, and
    nothing can be changed any more. `on_end()` is called then.
    """

    def __init__(self, client, note, mode="edit", push="ranges", check="sha256"):
        self.client, self.note, self.on_change, self.on_resume = client, note, None, None
        self.ended = self.on_end = None
        self._options = {"id": note, "mode": mode, "push": push, "check": check}
        self._news = threading.Condition()  # with a lock that may be taken again
        self._live = self.number = self._problem = None  # _problem: why the note is not settled
        self._open(client.connection).result()

    def _open(self, connection, **resume):
        return connection.request_async("note/open", {**self._options, **resume},
                                        functools.partial(self._opened, connection))

    def _opened(self, connection, result, error):
        """Called before the next message is handled, which may be a push for this attachment."""
        with self._news:
            if self._live and getattr(error, "reason", None) == "purged":
                return self.end(error)
            if error:  # if the process died, another one is started
                self._problem = error if isinstance(error, ResponseError) else None
                return self._news.notify_all()
            self._connection, self.number = connection, result["attachment"]
            self.read_only, self._problem = result["readOnly"], None
            if not (before := self._live):
                self.client.attachments.add(self)
            if "resumed" in result:
                self._send(self._live.take_resumed(result["session"], result["rev"]))
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
        """Replaces the text; the server finds out what changed."""
        self._change(lambda live: live.replace(text))

    def edit(self, start, end, new):
        """Replaces the code points from start up to end."""
        self._change(lambda live: live.edit(start, end, new))

    def undo(self, method="note/undo"):
        """Takes back the last change made here, never one of others. Returns False if there is
        none."""
        if self.number is None:
            raise ClientError("the server is away")
        return self._connection.request(method, {"attachment": self.number})["done"]

    def redo(self):
        """Makes again what was taken back last. Returns False if there is nothing."""
        return self.undo("note/redo")

    def settle(self, timeout=30):
        """Waits until the server has everything that was done here. Raises the error that prevents
        that."""
        with self._news:
            self.send_unsent()
            self._send(self._live.confirm())
            self._news.wait_for(lambda: self._live.is_settled or self._problem, timeout)
            if not self._live.is_settled:
                raise self._problem or ClientError("the server does not answer")

    def close(self):
        """Closes the note. If the server does not take the text, it is written to a file, which the
        error names."""
        if self not in self.client.attachments:
            return
        try:
            if self.ended and self._live.has_unsent:
                raise self.ended
            if not self.read_only and not self.ended:
                self.settle()
        except ClientError as error:
            raise ClientError(f"{error}; the text is kept in {self._keep_in_file()}") from error
        finally:
            self.client.attachments.discard(self)
        if not self.ended:
            self._connection.request_async("note/close", {"attachment": self.number})

    def take_push(self, push):
        with self._news:
            rev = self._live.rev
            self._send(self._live.take_push(push))
            applied, text = self._live.rev != rev, self._live.text
        if applied and self.on_change:
            self.on_change(text)

    def detach(self, problem=None):
        """The server is gone. With a problem, no other one is started automatically."""
        with self._news:
            self.number, self._live.is_detached, self._problem = None, True, problem
            self._news.notify_all()

    def end(self, problem):
        """The note is gone for good. What was typed and not taken is kept by `close`."""
        with self._news:
            if self.ended:
                return
            self.detach(problem)
            self.ended = problem
        if self.on_end:
            self.on_end()

    def resume(self, connection):
        """Opens the note again, with another server or the same one. If it is open for reading
        only, it is opened anew."""
        if self.ended:
            return
        with self._news:
            self.detach()
            self._connection = connection
            resume = {} if self.read_only else {"resume": self._live.resume()}
            self._open(connection, **resume)

    def send_unsent(self):
        """Sends everything that the server lacks. Resumes the note if that failed before."""
        with self._news:
            if not self._live.is_detached:
                self._send(self._live.whole() if self._live.needs_whole else None)
            elif self._problem and not self._connection.lost:
                self.resume(self._connection)

    def _change(self, make):
        if self.read_only:
            raise ClientError("this note is open for reading only")
        if self.ended:
            raise self.ended
        with self._news:  # made and queued in one go: versions leave in order
            self._send(make(self._live))

    def _send(self, change):
        if change:
            self._problem = None
            self._connection.request_async(
                "note/change", {"attachment": self.number, **change},
                functools.partial(self._take_answer, self._connection, change["version"]))

    def _take_answer(self, connection, version, _, error):
        with self._news:
            if connection is not self._connection or self._live.is_detached:
                return
            if not error:
                self._live.take_answer(version)
            elif getattr(error, "reason", None) == "purged":
                self.end(error)
            elif getattr(error, "reason", None) == "reopen":
                self.resume(connection)
            else:
                self._send(self._live.take_answer(version, getattr(error, "code", 0)))
                if self._live.needs_whole and isinstance(error, ResponseError):
                    self._problem = error
            self._news.notify_all()

    def _keep_in_file(self):
        state = pathlib.Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
        folder = state / "decent-notes" / "unsent"
        folder.mkdir(0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(".txt", f"{self.note}-", folder)  # for the user only
        with open(handle, "wb") as file:
            file.write(self.text.encode())
        return name


def resolve(client, name):
    """The id of the note with this id or title, or with an id that begins like this."""
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
        author = e.get("author", {}).get("name", "")
        print(e["revision"], e["time"], f"+{e['inserted']}", f"-{e['deleted']}", ",".join(e["what"]), author, sep="\t")


def append_text(client, options):
    """Appends whole lines."""
    note, text = resolve(client, options.NOTE), sys.stdin.buffer.read().decode()
    client.request("note/append", {"id": note, "text": text, "lines": True})


def edit_note(client, options):
    """Edits a text in a file. What others do meanwhile is merged, by the revision of the text."""
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
    """Removes the last line end, which editors add, unless the text had one before."""
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
            ("search", search_notes, "list the notes with all of some words: id, title, line",
             "TEXT", "--json"),
            ("new", new_note, "create a note and print its id", "TITLE", "--text"),
            ("show", show_note, "print a note's text", "NOTE", "--revision"),
            ("edit", edit_note, "edit a note in $VISUAL or $EDITOR", "NOTE"),
            ("append", append_text, "add lines from standard input to a note", "NOTE"),
            ("history", show_history, "list what happened: revision, time, bytes, what, who", "NOTE"),
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
