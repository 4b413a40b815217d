#!/usr/bin/env python3
"""A client for Decent Notes, and the reference for writing another one.

    with Client("~/Notes") as client:
        note = client.request("note/create", {"title": "Shopping"})["note"]
        shopping = Attachment(client, note["id"])
        shopping.set_text("milk\\neggs")

`LiveText` is the algorithm of a client, without input or output; `Connection` is JSON-RPC over two
byte streams, `Client` a connection to a decent-notes process of its own, `Attachment` a note that
is open over it. Protocol/README.md describes the protocol.
"""
import argparse
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
from concurrent.futures import Future

CONTENT_MODIFIED = -32801
SHA256_LIMIT = 256 * 1024  # bytes; a longer text is checked by its size while someone types
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
    What comes out are the parameters of `note/change`, all but the attachment.
    """

    def __init__(self, text, version=0, rev=0, encoding="utf-16", check="sha256"):
        self.text, self.version, self.rev = text, version, rev
        self.encoding, self.check = encoding, check
        self.unsent = False  # the server could not write: it lacks some change of ours
        self._whole_at = version  # the version that last brought the server our whole text

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
        """A change of nothing, with the hash: for a long text, when typing pauses."""
        return {**self._change(self.text, {"ranges": []}), "sha256": facts(self.text)["sha256"]}

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
        self.rev = push["rev"]

    def refused(self, version, code):
        """The change of this version was answered by an error. Returns None or a change to send."""
        if code != CONTENT_MODIFIED:
            self.unsent = True  # it did not happen; the next change brings the whole text
        elif version >= self._whole_at:  # else the text that heals this is on its way already
            return self.whole()

    def _change(self, text, form):
        if "\0" in text:
            raise ValueError("a note cannot hold U+0000")
        known = facts(text)
        hashed = self.check == "sha256" and known["bytes"] <= SHA256_LIMIT
        names = () if self.check == "none" else ("sha256",) if hashed else ("bytes", "lineCount")
        self.text, self.version = text, self.version + 1
        if self.unsent or "text" in form:
            form, self.unsent, self._whole_at = {"text": text}, False, self.version
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

    def __init__(self, incoming, outgoing):
        self._incoming, self._outgoing, self._outbox = incoming, outgoing, queue.SimpleQueue()
        self._lock, self._ids = threading.Lock(), itertools.count(1)
        self._pending, self._callbacks, self._lost = {}, {}, None  # _pending: id to (future, then)
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
        """A Future. `then(result, error)` is called before any later message is looked at."""
        future = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            future.id = next(self._ids)  # what $/cancelRequest names
            self._send({"id": future.id, "method": method, "params": params or {}})
            self._pending[future.id] = (future, then)
        return future

    def notify(self, method, params=None):
        with self._lock:
            self._send({"method": method, "params": params or {}})

    def on(self, method, callback):
        """Calls `callback(params)` for each notification of this method."""
        self._callbacks.setdefault(method, []).append(callback)

    def hang_up(self):
        """Closes our side once everything sent so far is out."""
        self._outbox.put(None)
        self._writer.join()

    def farewell(self):
        return "the server closed the connection"

    def _send(self, message):
        if self._lost:
            raise self._lost
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
        except Exception as error:
            reason = f"the server does not speak the protocol: {error!r}"
        with self._lock:
            self._lost = ClientError(reason)
        for future, then in self._pending.values():
            self._settle(future, then, None, self._lost)

    def _dispatch(self, message):
        if "method" in message:
            for callback in self._callbacks.get(message["method"], ()):
                self._call(callback, message.get("params", {}))
            return
        if error := message.get("error"):
            error = ResponseError(error["code"], error["message"], error.get("data"))
        with self._lock:
            future, then = self._pending.pop(message["id"])
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


class Client(Connection):
    """A decent-notes process of our own, initialized on entering `with` and ended on leaving it."""

    def __init__(self, notebook=None, command=None, encodings=("utf-32", "utf-8", "utf-16")):
        words = list(command or find_command())
        if not shutil.which(words[0]):
            raise ClientError(f"there is no program {words[0]}")
        if notebook is not None:
            words += ["--notebook", os.path.expanduser(notebook)]
        self.program, self.encodings = words[0], list(encodings)
        self.attachments, self._errors = {}, tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            start_new_session=True)  # so that Ctrl-C comes to us, and we end the server in order
        super().__init__(self.process.stdout, self.process.stdin)
        self.on("note/edit", lambda push: push["attachment"] in self.attachments
                and self.attachments[push["attachment"]].receive(push))
        self.on("window/showMessage", lambda message: message["type"] >= 3  # good news, perhaps
                and [attachment.retry() for attachment in list(self.attachments.values())])

    def __enter__(self):
        try:
            self.server = self.request("initialize", {
                "processId": os.getpid(), "clientInfo": {"name": "decent_notes.py"},
                "capabilities": {"general": {"positionEncodings": self.encodings}}})
            self.encoding = self.server["capabilities"].get("positionEncoding", "utf-16")
            self.notify("initialized")
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        """Ends the process. Its errors are passed over when there is another already."""
        try:
            self.request("shutdown", timeout=60)
            self.notify("exit")
        except Exception:
            if kind is None:
                raise
        finally:
            self.hang_up()
            self._reader.join(10)  # it waits for the process
            self.process.kill()
            self.process.wait()
            self._errors.close()

    def farewell(self):
        status = self.process.wait()
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        return f"{self.program} ended with status {status}" + (last and f": {last}")


class Attachment:
    """A note that is open. Any thread may use it; `on_change(text)` tells of others' changes."""

    def __init__(self, client, note, mode="edit", push="ranges", check="sha256"):
        self.client, self.check, self.on_change = client, check, None
        self._lock, self._last = threading.RLock(), None  # _last: the future of the last change
        client.request_async("note/open", {"id": note, "mode": mode, "push": push, "check": check},
                             then=self._opened).result()

    def _opened(self, result, error):
        if not error:  # registered before the next message is read, which may be a push for us
            self.number, self.read_only = result["attachment"], result["readOnly"]
            self._live = LiveText(result["text"], result["version"], result["rev"],
                                  self.client.encoding, self.check)
            self.client.attachments[self.number] = self

    @property
    def text(self):
        return self._live.text

    def set_text(self, text):
        """Makes this the text; the server finds out what changed."""
        self._change(lambda live: live.replace(text))

    def edit(self, start, end, new):
        """Replaces the code points from start up to end."""
        self._change(lambda live: live.edit(start, end, new))

    def undo(self):
        """Takes back the last change made here and nobody else's; whether there was one."""
        return self.client.request("note/undo", {"attachment": self.number})["done"]

    def redo(self):
        """Makes again what was taken back last; whether there was something."""
        return self.client.request("note/redo", {"attachment": self.number})["done"]

    def settle(self, timeout=30):
        """Waits until every change made here is answered; raises what the last one failed with."""
        last = error = None
        while last is not self._last:  # a change that was refused may have been sent anew
            last = self._last
            error = last.exception(timeout)
        if error:
            raise error

    def close(self):
        if self.client.attachments.pop(self.number, None):
            self.client.request("note/close", {"attachment": self.number})

    def receive(self, push):
        with self._lock:
            rev = self._live.rev
            self._send(self._live.receive(push))
            applied, text = self._live.rev != rev, self._live.text
        if applied and self.on_change:
            self.on_change(text)

    def retry(self):
        with self._lock:
            self._send(self._live.whole() if self._live.unsent else None)

    def _change(self, make):
        if self.read_only:
            raise ClientError("this note is open for reading only")
        with self._lock:  # made and queued in one go: versions leave in order
            self._send(make(self._live))

    def _send(self, change):
        if change:
            self._last = self.client.request_async(
                "note/change", {"attachment": self.number, **change},
                lambda _, error: error and self._change(
                    lambda live: live.refused(change["version"], getattr(error, "code", None))))


def resolve(client, name):
    """The id of the note that an id, a title, or the beginning of an id names."""
    known = [note for trashed in (False, True)
             for note in client.request("notebook/list", {"trashed": trashed})["notes"]]
    found = ([note["id"] for note in known if name in (note["id"], note["title"])]
             or [note["id"] for note in known if note["id"].startswith(name)])
    if len(found) != 1:
        raise ClientError(f"{len(found) or 'no'} notes go by the name {name!r}")
    return found[0]


def list_notes(client, options):
    found = client.request("notebook/list")["notes"]
    if options.json:
        return print(json.dumps(found, ensure_ascii=False, indent=2))
    for order, n in enumerate(found):
        print(order, n["id"], n["title"], ",".join(n["tags"]), n["priority"], sep="\t")


def new_note(client, options):
    text = sys.stdin.buffer.read().decode() if options.text == "-" else options.text
    print(client.request("note/create", {"title": options.TITLE, "text": text})["note"]["id"])


def show_note(client, options):
    text = client.request("note/get", {"id": resolve(client, options.NOTE)})["text"]
    sys.stdout.buffer.write(text.encode())


def edit_note(client, options):
    """The text goes out at a revision and comes back with it, so others may edit meanwhile."""
    note = resolve(client, options.NOTE)
    fetched = client.request("note/get", {"id": note})
    file = pathlib.Path(tempfile.mkdtemp(prefix="decent-notes-")) / "note.md"
    file.write_bytes(fetched["text"].encode())
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    interrupted = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the editor's meanwhile
    try:
        status = subprocess.call([*shlex.split(editor), str(file)])
        signal.signal(signal.SIGINT, interrupted)
        if status:
            raise ClientError(f"{editor} ended with status {status}")
        text = file.read_bytes().decode()
        if text.endswith("\n") and not fetched["text"].endswith("\n"):
            text = text[:-1]  # the editor's, not the user's
        if text != fetched["text"]:
            change = {"id": note, "text": text, "base": fetched["revision"]}
            kept = client.request("note/setText", change)["text"]
            print("saved" if kept == text else "saved, merged with what others changed")
    except (ClientError, OSError, ValueError) as error:
        raise ClientError(f"{error}; the text is kept in {file}") from error
    shutil.rmtree(file.parent)


def call_method(client, options):
    result = client.request(options.METHOD, json.loads(options.PARAMS))
    print(json.dumps(result, ensure_ascii=False, indent=2))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ClientError(f"{message} (--help explains)")


def main(arguments=None):
    parser = Parser(prog="decent_notes.py", description="Reads and edits the notes of a notebook.")
    parser.add_argument("--notebook", metavar="DIR", help="the notebook's folder")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    settings = {"--json": {"action": "store_true", "help": "as JSON, with all there is"},
                "--text": {"default": "", "help": "its text; - reads it from standard input"},
                "NOTE": {"help": "an id, the beginning of an id, or a title"},
                "PARAMS": {"nargs": "?", "default": "{}", "help": "a JSON object"}}
    for name, action, help, *expected in (
            ("list", list_notes, "list the notes: order, id, title, tags, priority", "--json"),
            ("new", new_note, "create a note and print its id", "TITLE", "--text"),
            ("show", show_note, "print a note's text", "NOTE"),
            ("edit", edit_note, "edit a note in $VISUAL or $EDITOR", "NOTE"),
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
