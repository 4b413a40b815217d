"""python3 -m unittest discover clients/python

What needs the decent-notes program is skipped where there is none, except in continuous
integration (CI=true), where a missing program is a failure.
"""
import contextlib
import difflib
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None  # what is said is not held against the schema then

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import decent_notes as dn  # noqa: E402
from decent_notes import Attachment, Client, ClientError, Connection, LiveText, ResponseError  # noqa: E402


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def at(line, character):
    return {"line": line, "character": character}


def replacement(start, end, new):
    return {"range": {"start": at(*start), "end": at(*end)}, "newText": new}


class Edits(unittest.TestCase):
    def test_lines_refer_to_the_text_before_all_of_them(self):
        self.assertEqual(dn.apply_lines("a\nb\nc", [[0, 1, ["A"]], [2, 3, ["C", "D"]]]), "A\nb\nC\nD")
        self.assertEqual(dn.apply_lines("a\nb\nc", [[2, 3, []], [0, 0, ["z"]]]), "z\na\nb")

    def test_an_empty_text_is_one_empty_line(self):
        self.assertEqual(dn.apply_lines("", [[0, 1, ["a", ""]]]), "a\n")
        self.assertEqual(dn.apply_lines("", [[1, 1, ["a"]]]), "\na")
        self.assertEqual(dn.apply_lines("a", [[0, 1, []]]), "")

    def test_a_carriage_return_is_text(self):
        self.assertEqual(dn.apply_lines("a\r\nb", [[1, 2, ["c"]]]), "a\r\nc")

    def test_insertions_at_one_place_keep_their_order(self):
        self.assertEqual(dn.apply_lines("x", [[0, 0, ["1"]], [0, 0, ["2"]]]), "1\n2\nx")
        edits = [replacement((0, 1), (0, 1), "1"), replacement((0, 1), (0, 1), "2")]
        self.assertEqual(dn.apply_ranges("ab", edits, "utf-16"), "a12b")
        edits = [replacement((0, 0), (0, 1), "A"), replacement((0, 0), (0, 0), "1")]
        self.assertEqual(dn.apply_ranges("ab", edits, "utf-16"), "1Ab")

    def test_what_lies_outside_the_text_or_overlaps_is_refused(self):
        for edit in [[2, 2, []], [-1, 0, []], [1, 0, []]]:
            with self.assertRaises(ValueError):
                dn.apply_lines("one line", [edit])
        with self.assertRaises(ValueError):
            dn.apply_lines("a\nb\nc", [[0, 2, []], [1, 3, []]])
        for place in [(0, 3), (1, 0), (-1, 0), (0, -1)]:
            with self.assertRaises(ValueError):
                dn.apply_ranges("ab", [replacement(place, place, "x")], "utf-8")

    def test_a_position_inside_a_code_point_is_refused(self):
        for encoding, inside in [("utf-8", 1), ("utf-8", 3), ("utf-16", 1)]:
            with self.assertRaises(ValueError):
                dn.apply_ranges("😀", [replacement((0, inside), (0, inside), "x")], encoding)

    def test_positions_are_the_same_place_in_every_encoding(self):
        text = "aé😀\n\u0301漢\r\n\n"
        for encoding in dn.CODECS:
            for offset in range(len(text) + 1):
                place = dn.position(text, offset, encoding)
                edit = {"range": {"start": place, "end": place}, "newText": "|"}
                there = dn.apply_ranges(text, [edit], encoding)
                self.assertEqual(there, text[:offset] + "|" + text[offset:])
        self.assertEqual([dn.position(text, 3, e)["character"] for e in dn.CODECS], [7, 4, 3])


class TheAlgorithm(unittest.TestCase):
    def test_a_change_says_version_rev_and_the_hash_of_the_text_after_it(self):
        live = LiveText("one", encoding="utf-16")
        self.assertEqual(live.edit(3, 3, " two"), {
            "version": 1, "rev": 0, "ranges": [replacement((0, 3), (0, 3), " two")],
            "sha256": sha256("one two")})
        self.assertEqual(live.replace("three"), {
            "version": 2, "rev": 0, "text": "three", "sha256": sha256("three")})

    def test_a_push_of_our_version_is_applied_and_its_rev_kept(self):
        live = LiveText("a\nb")
        push = {"version": 0, "rev": 1, "lines": [[0, 0, ["new"]]], "sha256": sha256("a\nb")}
        self.assertIsNone(live.take_push(push))
        self.assertEqual((live.text, live.version, live.rev), ("new\na\nb", 0, 1))
        push = {"version": 0, "rev": 2, "text": "other", "sha256": sha256("new\na\nb")}
        self.assertIsNone(live.take_push(push))
        self.assertEqual((live.text, live.rev, live.replace("x")["rev"]), ("other", 2, 2))

    def test_a_push_that_crossed_a_change_is_dropped(self):
        live = LiveText("a")
        live.replace("ab")
        self.assertIsNone(live.take_push({"version": 0, "rev": 1, "text": "za", "sha256": sha256("a")}))
        self.assertEqual((live.text, live.version, live.rev), ("ab", 1, 0))

    def test_a_push_that_does_not_fit_is_answered_by_the_whole_text(self):
        for push in [{"text": "b", "sha256": sha256("b")}, {"lines": [[9, 9, []]]}, {"text": "", "bytes": 9},
                     {"ranges": [replacement((0, 2), (0, 2), "x")]}, {"text": "", "lineCount": 2}]:
            live = LiveText("a")
            heal = live.take_push({"version": 0, "rev": 1, **push})
            self.assertEqual(heal, {"version": 1, "rev": 0, "text": "a", "sha256": sha256("a")})

    def test_content_modified_is_answered_by_the_whole_text_once(self):
        live = LiveText("")
        versions = [live.edit(0, 0, letter)["version"] for letter in "abc"]
        self.assertEqual(live.take_answer(versions[0], -32801)["text"], "cba")
        self.assertIsNone(live.take_answer(versions[1], -32801))
        self.assertEqual(live.take_answer(4, -32801)["version"], 5)

    def test_what_could_not_be_written_goes_whole_with_the_next_change(self):
        live = LiveText("a")
        self.assertIsNone(live.take_answer(live.edit(1, 1, "b")["version"], -32803))
        self.assertEqual(live.edit(2, 2, "c")["text"], "abc")
        self.assertIn("ranges", live.edit(3, 3, "d"))

    def test_a_long_text_is_checked_by_its_size_until_typing_pauses(self):
        live = LiveText("é\n" * 100_000)
        self.assertEqual(live.edit(0, 0, "x").keys() - {"version", "rev", "ranges"}, {"bytes", "lineCount"})
        self.assertEqual(live.replace("é\n")["sha256"], sha256("é\n"))
        change = live.replace("é\n" * 100_000)
        self.assertEqual((change["bytes"], change["lineCount"]), (300_000, 100_001))
        self.assertEqual(live.confirm()["sha256"], sha256(live.text))
        self.assertIsNone(live.confirm())
        self.assertNotIn("sha256", LiveText("", check="length").replace("a"))
        self.assertEqual(LiveText("", check="none").replace("a").keys(), {"version", "rev", "text"})

    def test_a_text_that_cannot_be_sent_changes_nothing(self):
        live = LiveText("a")
        for text in ["\0", "\ud800"]:
            with self.assertRaises(ValueError):
                live.replace(text)
        self.assertEqual((live.text, live.version), ("a", 0))

    def test_what_is_typed_while_the_server_is_away_is_sent_when_it_is_back(self):
        live = LiveText("a", resume_token="s1")
        live.take_answer(live.edit(1, 1, "b")["version"])
        unanswered = live.edit(2, 2, "c")
        self.assertFalse(live.is_settled)
        self.assertEqual(live.resume(), {
            "session": "s1", "version": 2, "rev": 0, "text": "abc", "baseText": "ab"})
        self.assertIsNone(live.take_answer(unanswered["version"], -32803))
        self.assertIsNone(live.edit(3, 3, "d"))
        self.assertEqual(live.take_resumed("s2", 0), {
            "version": 4, "rev": 0, "text": "abcd", "sha256": sha256("abcd")})
        self.assertEqual((live.resume_token, live.base, live.is_settled), ("s2", "abc", False))
        live.take_answer(4)
        self.assertEqual((live.base, live.is_settled), ("abcd", True))

    def test_who_comes_back_with_everything_sends_nothing_more(self):
        live = LiveText("a", resume_token="s1")
        live.edit(1, 1, "b")
        live.resume()
        self.assertIsNone(live.take_resumed("s2", 0))
        self.assertTrue(live.is_settled)

    def test_the_base_is_what_the_server_is_known_to_have(self):
        live = LiveText("a")
        first, second = live.edit(1, 1, "b")["version"], live.edit(2, 2, "c")["version"]
        live.take_answer(first)
        self.assertEqual(live.base, "a")
        live.take_answer(second)
        self.assertEqual(live.base, "abc")
        live.take_push({"version": 2, "rev": 1, "text": "abc!", "sha256": sha256("abc")})
        self.assertEqual(live.base, "abc!")

    def test_clients_that_type_across_each_other_end_equal(self):
        """Against a model of the server: nothing typed is lost or doubled, whatever crosses, and
        whenever it dies."""
        for seed in range(150):
            with self.subTest(seed=seed):
                Simulation(random.Random(seed)).run(self)


class Simulation:
    """Three clients that insert characters, each character once, and a server that only merges.

    The server keeps, per session, the elements that the client shows: that is all it takes. Messages
    wait in queues for a random time; one local edit in ten goes unnoticed by the client's editor. Now and
    then a client's server dies: what waits is lost, what was shown is in its journal.
    """

    def __init__(self, chance):
        self.chance, self.typed = chance, (chr(0x1F300 + n) if n % 2 else chr(0xC0 + n) for n in range(400))
        text = "one\ntwo\n"
        self.names = dict(enumerate(text))  # element: its character
        self.order = list(self.names)
        self.clients = [self.client(text, *kind) for kind in
                        (("lines", "utf-8"), ("ranges", "utf-16"), ("text", "utf-32"))]

    def client(self, text, push, encoding):
        return {"live": LiveText(text, encoding=encoding, resume_token=0), "push": push, "up": [], "down": [],
                "sessions": [{"view": list(self.order), "version": 0, "rev": 0, "pending": {}}],
                "missed": False}

    def text(self, elements):
        return "".join(self.names[element] for element in elements)

    def run(self, test):
        expected = set()
        for _ in range(self.chance.randrange(20, 120)):
            client = self.chance.choice(self.clients)
            if self.chance.random() < 0.05:
                self.die(client)
            self.chance.choice((self.type, self.serve, self.serve, self.show, self.show))(client, expected)
        for client in self.clients:
            if client["missed"]:
                self.send(client, client["live"].whole())
        turns = 0
        while any(client["up"] or client["down"] for client in self.clients):
            turns += 1
            test.assertLess(turns, 1000, "messages never come to an end")
            client = self.chance.choice(self.clients)
            self.chance.choice((self.serve, self.show))(client)
        for client in self.clients:
            test.assertEqual(client["live"].text, self.text(self.order))
        test.assertEqual(sorted(self.text(self.order)), sorted([*"one\ntwo\n", *expected]))

    def type(self, client, expected):
        live, character = client["live"], next(self.typed)
        offset = self.chance.randrange(len(live.text) + 1)
        expected.add(character)
        after = live.text[:offset] + character + live.text[offset:]
        if self.chance.random() < 0.1:
            live.text, client["missed"] = after, True  # the client is not told
        elif self.chance.random() < 0.5:
            self.send(client, live.edit(offset, offset, character))
        else:
            self.send(client, live.replace(after))

    def send(self, client, change):
        if change:
            client["up"].append(change)

    def die(self, client):
        client["up"], client["down"] = [{"resume": client["live"].resume()}], []

    def show(self, client, _=None):
        if client["down"]:
            message, live = client["down"].pop(0), client["live"]
            reply = getattr(live, message.pop("do"))(**message) if "do" in message else live.take_push(message)
            self.send(client, reply)

    def serve(self, client, _=None):
        if not client["up"]:
            return
        change = client["up"].pop(0)
        is_back, session = "resume" in change, client["sessions"][-1]
        if is_back:
            change = change["resume"]
            session = client["sessions"][change["session"]]
        view = session["pending"].get(change["rev"], session["view"])
        try:
            text = change["text"] if "text" in change else dn.apply_ranges(
                self.text(view), change["ranges"], client["live"].encoding)
            if not is_back and sha256(text) != change["sha256"]:
                raise ValueError
        except ValueError:
            client["down"].append({"do": "take_answer", "version": change["version"], "error_code": -32801})
            return
        session.update(view=self.insert(view, text), pending={}, version=change["version"])
        if is_back:
            client["down"].append({"do": "take_resumed", "resume_token": len(client["sessions"]), "rev": 0})
            client["sessions"].append({**session, "rev": 0, "pending": {}})
        else:
            client["down"].append({"do": "take_answer", "version": change["version"]})
        for other in self.clients:
            self.push(other)

    def insert(self, view, text):
        """The view that shows this text, once what is new in it is in the common order."""
        old, new = list(view), []
        for character in text:
            if old and self.names[old[0]] == character:
                new.append(old.pop(0))
                continue
            element = len(self.names)
            if element > 500:
                raise AssertionError("the text grows, though nobody types")
            self.names[element] = character
            self.order.insert(self.order.index(new[-1]) + 1 if new else 0, element)
            new.append(element)
        return new

    def push(self, client):
        if client["up"][:1] and "resume" in client["up"][0]:
            return  # there is no server at present
        session = client["sessions"][-1]
        shown = session["pending"][session["rev"]] if session["pending"] else session["view"]
        if shown == self.order:
            return
        before, after = self.text(shown), self.text(self.order)
        session["rev"] += 1
        session["pending"][session["rev"]] = list(self.order)
        message = {"version": session["version"], "rev": session["rev"], "sha256": sha256(before)}
        old, new = (before, after) if client["push"] == "ranges" else (before.split("\n"), after.split("\n"))
        hunks = [hunk[1:] for hunk in difflib.SequenceMatcher(None, old, new, False).get_opcodes()
                 if hunk[0] != "equal"]
        if client["push"] == "lines":
            message["lines"] = [[i, j, new[k:m]] for i, j, k, m in hunks]
        elif client["push"] == "text":
            message["text"] = after
        else:
            encoding = client["live"].encoding
            message["ranges"] = [{"range": {"start": dn.position(old, i, encoding),
                                            "end": dn.position(old, j, encoding)}, "newText": new[k:m]}
                                 for i, j, k, m in hunks]
        client["down"].append(message)


class FakeServer:
    """The other end of a Connection, scripted by the test."""

    def __init__(self):
        to_server, to_client = os.pipe(), os.pipe()
        self.input, self.output = os.fdopen(to_server[0], "rb"), os.fdopen(to_client[1], "wb")
        self.connection = Connection(os.fdopen(to_client[0], "rb"), os.fdopen(to_server[1], "wb"))

    def read(self):
        return dn.read_message(self.input)

    def write(self, message, header=b"Content-Length: %d\r\n\r\n"):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(header % len(body) + body)

    def raw(self, data):
        self.output.write(data)
        self.output.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.output.close()
        self.connection._reader.join(5)
        self.connection.hang_up()
        self.input.close()


class Frames(unittest.TestCase):
    def test_a_request_is_framed_with_its_length_in_bytes(self):
        with FakeServer() as server:
            server.connection.request_async("note/append", {"text": "é😀"})
            header = server.input.readline()
            self.assertEqual(server.input.readline(), b"\r\n")
            body = server.input.read(int(header.split(b":")[1]))
            self.assertEqual(json.loads(body), {
                "jsonrpc": "2.0", "id": 1, "method": "note/append", "params": {"text": "é😀"}})

    def test_headers_may_come_in_any_case_and_order(self):
        with FakeServer() as server:
            answer = server.connection.request_async("x")
            server.write({"id": 1, "result": 7}, b"Content-Type: any/thing\r\ncontent-length:%d\r\n\r\n")
            self.assertEqual(answer.result(5), 7)

    def test_a_frame_may_arrive_in_pieces(self):
        with FakeServer() as server:
            answer = server.connection.request_async("x")
            for byte in b'Content-Length: 22\r\n\r\n{"id":1,"result":"\xc3\xa9"}':
                server.raw(bytes([byte]))
            self.assertEqual(answer.result(5), "é")

    def test_answers_may_come_in_any_order(self):
        with FakeServer() as server:
            first, second = server.connection.request_async("x"), server.connection.request_async("y")
            server.write({"id": 2, "result": "second"})
            server.write({"id": 1, "result": None})
            self.assertEqual((first.result(5), second.result(5)), (None, "second"))

    def test_an_error_has_code_message_and_reason(self):
        with FakeServer() as server:
            answer = server.connection.request_async("x")
            server.write({"id": 1, "error": {"code": -32803, "message": "no", "data": {"reason": "reopen"}}})
            with self.assertRaises(ResponseError) as caught:
                answer.result(5)
            error = caught.exception
            self.assertEqual((error.code, error.message, error.reason), (-32803, "no", "reopen"))

    def test_notifications_and_callbacks_come_in_the_order_of_the_messages(self):
        with FakeServer() as server:
            seen, done = [], threading.Event()
            server.connection.on("tick", lambda params: seen.append(params["n"]))
            server.connection.on("tick", lambda params: params["missing"])  # must not stop the reader
            server.connection.on("end", lambda params: done.set())
            server.connection.request_async("x", then=lambda result, error: seen.append(result))
            with contextlib.redirect_stderr(io.StringIO()):
                for message in [{"method": "tick", "params": {"n": 1}}, {"id": 1, "result": 2},
                                {"method": "tick", "params": {"n": 3}}, {"method": "end"}]:
                    server.write(message)
                self.assertTrue(done.wait(5))
            self.assertEqual(seen, [1, 2, 3])

    def test_a_callback_that_waits_for_an_answer_is_told_so(self):
        with FakeServer() as server:
            told = threading.Event()

            def callback(_):
                try:
                    server.connection.request("x")
                except RuntimeError:
                    told.set()

            server.connection.on("tick", callback)
            server.write({"method": "tick"})
            self.assertTrue(told.wait(5))

    def test_thousands_of_requests_go_out_before_one_is_read(self):
        with FakeServer() as server:
            padding = "x" * 1000
            answers = [server.connection.request_async("x", {"padding": padding}) for _ in range(3000)]
            for expected in range(1, 3001):
                self.assertEqual(server.read()["id"], expected)
            for number in range(1, 3001):
                server.write({"id": number, "result": number})
            self.assertEqual([answer.result(5) for answer in answers], list(range(1, 3001)))

    def test_a_waiting_caller_is_told_that_the_server_is_gone(self):
        for last_words in [b"", b"Content-Length: 99\r\n\r\n{", b"Content-Length: 2\r\n\r\n[]", b"hello\n\n"]:
            with self.subTest(last_words), FakeServer() as server:
                answer = server.connection.request_async("x")
                server.raw(last_words)
                server.output.close()
                with self.assertRaises(ClientError):
                    answer.result(5)
                with self.assertRaises(ClientError):
                    server.connection.request("y")


class ADyingProcess(unittest.TestCase):
    def test_the_error_has_the_status_and_the_last_line_of_stderr(self):
        program = [sys.executable, "-c", "import sys; print('a\\nno such folder', file=sys.stderr); sys.exit(3)"]
        with self.assertRaisesRegex(ClientError, "ended with status 3: no such folder"):
            with Client(command=program):
                pass

    def test_the_command_line_says_it_in_one_line(self):
        for environment in [{"DECENT_NOTES_COMMAND": "/no/such/program"},
                            {"DECENT_NOTES_COMMAND": f"{shlex.quote(sys.executable)} -c 'exit(3)'"}]:
            with mock.patch.dict(os.environ, environment):
                status, out, err = run("list")
            self.assertEqual((status, out, err.count("\n")), (1, "", 1))
        status, out, err = run("nonsense")
        self.assertEqual((status, out, err.count("\n")), (1, "", 1))


def run(*arguments):
    """Runs the command line; its status, standard output and standard error."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = dn.main(arguments)
    out.flush()
    return status, out.buffer.getvalue().decode(), err.getvalue()


def eventually(condition, timeout=60):
    deadline = time.monotonic() + timeout
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


class Schema:
    """Protocol/schema.json, which says what every message looks like."""

    def __init__(self):
        file = pathlib.Path(__file__).resolve().parents[2] / "Protocol/schema.json"
        self.definitions = json.loads(file.read_text(encoding="utf-8"))["$defs"]
        self.validators = {}

    def problems(self, method, kind, message):
        name = "".join(part[:1].upper() + part[1:] for part in re.split("[/.$]", method)) + kind
        if name not in self.validators:
            self.validators[name] = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": self.definitions})
        return [f"{name}: {error.message}" for error in self.validators[name].iter_errors(message)]

    def watch(self, case):
        """The test fails if either side says what is not in the schema. What the program refuses may be anything."""
        asked, problems, send, dispatch = {}, [], Connection._send, Connection._dispatch

        def watched_send(connection, message):
            if "id" in message:
                asked[id(connection), message["id"]] = json.loads(json.dumps({"jsonrpc": "2.0", **message}))
            send(connection, message)

        def watched_dispatch(connection, message):
            request = asked.pop((id(connection), message.get("id")), None)
            if "method" in message:
                problems.extend(self.problems(message["method"], "Notification", message))
            elif "error" in message:
                problems.extend(self.problems("Error", "Response", message))
            elif request:
                problems.extend(self.problems(request["method"], "Request", request))
                problems.extend(self.problems(request["method"], "Response", message))
            dispatch(connection, message)

        for name, watched in ("_send", watched_send), ("_dispatch", watched_dispatch):
            patch = mock.patch.object(Connection, name, watched)
            patch.start()
            case.addCleanup(patch.stop)
        case.addCleanup(lambda: case.assertEqual(problems, []))


class TheRealProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            dn.find_command()
        except ClientError as error:
            if os.environ.get("CI") == "true":
                raise
            print(f"skipped: {error}", file=sys.stderr)
            raise unittest.SkipTest(str(error))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.notebook, self.state = os.path.join(folder.name, "Notes"), os.path.join(folder.name, "state")
        state = mock.patch.dict(os.environ, {"XDG_STATE_HOME": self.state})
        state.start()
        self.addCleanup(state.stop)
        if Draft202012Validator:
            Schema().watch(self)

    def connect(self, **options):
        client = Client(self.notebook, **options).__enter__()
        self.addCleanup(client.__exit__, None)
        return client

    def create(self, client, **params):
        return client.request("note/create", params)["note"]["id"]

    def test_initialize_says_what_there_is(self):
        server = self.connect().server
        self.assertEqual(server["protocolVersion"], "1.0")
        self.assertEqual(server["capabilities"]["positionEncoding"], "utf-32")
        self.assertIsNone(server["notebook"]["id"])
        self.assertEqual(server["suggestedTags"], ["home", "work", "travel", "leisure"])

    def test_the_process_ends_with_status_0(self):
        client = Client(self.notebook)
        with client:
            pass
        self.assertEqual(client.connection.process.returncode, 0)

    def test_a_note_is_still_there_in_the_next_process(self):
        with Client(self.notebook) as client:
            note = self.create(client, title="Shopping", text="milk\n", tags=["home"], priority="high")
        with Client(self.notebook) as client:
            found = client.request("note/get", {"id": note})
        self.assertEqual(found["text"], "milk\n")
        self.assertEqual({**found["note"], "created": "", "modified": "", "length": 5}, {
            "id": note, "title": "Shopping", "tags": ["home"], "priority": "high", "created": "",
            "modified": "", "length": 5, "trashed": False})

    def test_a_text_set_with_its_base_is_merged(self):
        client = self.connect()
        note = self.create(client, text="one\ntwo\nthree\n")
        base = client.request("note/get", {"id": note})["revision"]
        client.request("note/append", {"id": note, "text": "four\n"})
        change = {"id": note, "text": "zero\none\ntwo\nthree\n", "base": base}
        self.assertEqual(client.request("note/setText", change)["text"], "zero\none\ntwo\nthree\nfour\n")

    def test_an_unknown_note_and_an_unknown_method(self):
        client = self.connect()
        with self.assertRaises(ResponseError) as caught:
            client.request("note/get", {"id": "nothing"})
        self.assertEqual((caught.exception.code, caught.exception.reason), (-32803, "noSuchNote"))
        with self.assertRaises(ResponseError) as caught:
            client.request("note/dance")
        self.assertEqual(caught.exception.code, -32601)

    def test_two_attachments_that_type_at_once_end_equal(self):
        for encoding in dn.CODECS:
            for push in ["text", "lines", "ranges"]:
                with self.subTest(encoding=encoding, push=push):
                    client = self.connect(encodings=[encoding])
                    note = self.create(client, text="start\n")
                    sides = [Attachment(client, note, push=push) for _ in range(2)]
                    threads = [threading.Thread(target=self.type, args=(side, letter, 100))
                               for side, letter in zip(sides, "é😀")]
                    for thread in threads:
                        thread.start()
                    for thread in threads:
                        thread.join()
                    self.agree(client, note, sides, {"é": 100, "😀": 100})

    def test_two_processes_that_type_at_once_end_equal(self):
        first = self.connect()
        note = self.create(first, text="start\n")
        second = self.connect()
        sides = [Attachment(first, note), Attachment(second, note, push="lines")]
        threads = [threading.Thread(target=self.type, args=(side, letter, 100))
                   for side, letter in zip(sides, "bx")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.agree(first, note, sides, {"b": 100, "x": 100})

    def type(self, side, letter, count):
        chance = random.Random(letter)
        for n in range(count):
            if n % 10 == 9:
                with side._news:  # or a push could come between, and be taken back
                    side.set_text(side.text + letter)
            else:
                place = chance.randrange(3)
                side.edit(place, place, letter)

    def agree(self, client, note, sides, counts):
        for side in sides:
            side.settle()
        self.assertTrue(eventually(lambda: len({side.text for side in sides}) == 1))
        text = client.request("note/get", {"id": note})["text"]
        self.assertEqual({side.text for side in sides}, {text})
        for letter, count in counts.items():
            self.assertEqual(text.count(letter), count)

    def test_an_observer_sees_everything_and_changes_nothing(self):
        client = self.connect()
        note = self.create(client, text="a")
        observer, editor = Attachment(client, note, mode="observe"), Attachment(client, note)
        seen = threading.Event()
        observer.on_change = lambda text: seen.set()
        editor.edit(1, 1, "b")
        self.assertTrue(seen.wait(20))
        self.assertEqual(observer.text, "ab")
        with self.assertRaises(ClientError):
            observer.set_text("c")
        observer.close()
        editor.close()

    def test_an_undo_takes_back_only_what_is_ones_own(self):
        client = self.connect()
        note = self.create(client, text="milk")
        ana, ben = Attachment(client, note), Attachment(client, note)
        ana.edit(0, 0, "oat ")
        self.assertTrue(eventually(lambda: ben.text == "oat milk"))
        ben.edit(8, 8, "!")
        self.assertTrue(eventually(lambda: ana.text == "oat milk!"))
        self.assertEqual([ana.undo(), ana.undo()], [True, False])
        self.assertTrue(eventually(lambda: ana.text == ben.text == "milk!"))
        self.assertEqual([ana.redo(), ana.redo()], [True, False])
        self.assertTrue(eventually(lambda: ana.text == ben.text == "oat milk!"))

    def test_a_missed_event_heals(self):
        client = self.connect()
        note = self.create(client, text="one\ntwo\n")
        side, other = Attachment(client, note), Attachment(client, note)
        side._live.text = "one\n2\n"  # a change that was not reported
        side.edit(0, 0, "zero\n")
        side.settle()
        self.assertTrue(eventually(lambda: other.text == "zero\none\n2\n"))

    # Coming back

    def kill(self, client, number=signal.SIGKILL):
        os.kill(client.connection.process.pid, number)

    def test_nothing_is_lost_or_doubled_when_servers_are_killed_while_two_clients_type(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        for round in range(6 * int(os.environ.get("DECENT_NOTES_SEEDS") or 1)):
            with self.subTest(round=round, seed=seed), Client(self.notebook) as first, Client(self.notebook) as second:
                note = self.create(first, text="start\n")
                self.assertTrue(eventually(lambda: self.knows(second, note)))
                sides, back = [Attachment(first, note), Attachment(second, note, push="lines")], []
                for side in sides:
                    side.on_resume = lambda how, copy: back.append(how)
                threads = [threading.Thread(target=self.type, args=(side, letter, 60))
                           for side, letter in zip(sides, "bx")]
                for thread in threads:
                    thread.start()
                kills = chance.randrange(1, 4)
                for _ in range(kills):
                    time.sleep(chance.random() / 50)  # anywhere in what goes on
                    victim = chance.choice([first, second])
                    pid = victim.connection.process.pid
                    self.kill(victim)
                    self.assertTrue(eventually(lambda: victim.connection.process.pid != pid))
                for thread in threads:
                    thread.join()
                self.agree(first, note, sides, {"b": 60, "x": 60})
                self.assertEqual(set(back), {"exact"})

    def test_a_change_whose_answer_died_with_the_server_is_there_once(self):
        client, other = self.connect(), self.connect()
        note = self.create(client, text="milk")
        side = Attachment(client, note)
        client.connection._dispatch = lambda message: None  # nothing the server says arrives any more
        side.edit(4, 4, "\neggs")
        self.assertTrue(eventually(lambda: "eggs" in self.read(other, note)))
        other.request("note/append", {"id": note, "text": "\nbread"})
        self.kill(client)
        side.settle()
        self.assertTrue(eventually(lambda: side.text == "milk\neggs\nbread"))
        self.assertEqual(self.read(client, note), side.text)

    def test_a_change_that_died_unread_is_there_once_and_can_be_undone(self):
        client = self.connect()
        note = self.create(client, text="milk")
        side = Attachment(client, note)
        self.kill(client, signal.SIGSTOP)
        side.edit(0, 0, "oat ")
        self.kill(client)
        side.edit(8, 8, "!")
        side.settle()
        self.assertEqual(self.read(client, note), "oat milk!")
        while side.undo():
            pass
        self.assertTrue(eventually(lambda: side.text == "milk"))

    def test_a_request_under_way_fails_when_the_server_dies_and_the_next_one_succeeds(self):
        client = self.connect()
        self.kill(client, signal.SIGSTOP)
        answer = client.connection.request_async("note/create", {"title": "Shopping"})
        self.kill(client)
        with self.assertRaisesRegex(ClientError, "ended with status -9, before it answered note/create"):
            answer.result(20)
        self.assertTrue(eventually(lambda: not client.connection.lost))
        self.assertEqual(client.request("notebook/list")["notes"], [])

    def test_after_five_restarts_the_text_stays_and_goes_to_a_file(self):
        with self.assertRaises(ClientError) as caught, Client(self.notebook) as client:
            note = self.create(client, text="start")
            side, back = Attachment(client, note), []
            side.on_resume = lambda how, copy: back.append(how)
            for death in range(1, 6):
                side.edit(0, 0, str(death))
                self.kill(client)
                self.assertTrue(eventually(lambda: len(back) == death))
            side.settle()
            self.kill(client)
            self.assertTrue(eventually(lambda: side._problem))
            side.edit(0, 0, "6")
            with self.assertRaisesRegex(ClientError, "status -9, as did 5 before it"):
                side.settle()
            with self.assertRaisesRegex(ClientError, "status -9"):
                client.request("notebook/list")
        file = pathlib.Path(str(caught.exception).rpartition("the text is kept in ")[2])
        self.assertEqual(file.parent, pathlib.Path(self.state, "decent-notes/unsent"))
        self.assertEqual((file.read_text(), file.stat().st_mode & 0o777), ("654321start", 0o600))
        with Client(self.notebook) as client:
            self.assertEqual(self.read(client, note), "54321start")

    def test_without_its_journal_the_text_is_merged(self):
        client, other = self.connect(), self.connect()
        note = self.create(client, text="milk\n")
        self.assertTrue(eventually(lambda: self.knows(other, note)))
        side, back = Attachment(client, note), []
        side.on_resume = lambda how, copy: back.append((how, copy))
        self.kill(client, signal.SIGSTOP)
        side.edit(0, 0, "oat ")
        other.request("note/append", {"id": note, "text": "bread\n"})
        self.forget(client)
        side.settle()
        self.assertTrue(eventually(lambda: side.text == "oat milk\nbread\n"))
        self.assertEqual((back, self.read(client, note)), ([("merged", None)], side.text))

    def test_what_cannot_be_merged_becomes_a_note_of_its_own(self):
        client, other = self.connect(), self.connect()
        note = self.create(client, text="milk\n")
        self.assertTrue(eventually(lambda: self.knows(other, note)))
        side, back = Attachment(client, note), []
        side.on_resume = lambda how, copy: back.append((how, copy))
        self.kill(client, signal.SIGSTOP)
        side.edit(0, 0, "oat ")
        side._live.base = None
        other.request("note/append", {"id": note, "text": "bread\n"})
        self.forget(client)
        self.assertTrue(eventually(lambda: side.text == "milk\nbread\n"))
        (how, copy), = back
        self.assertEqual((how, self.read(client, copy)), ("conflict", "oat milk\n"))

    def test_an_attachment_that_the_server_has_forgotten_is_opened_again(self):
        client = self.connect()
        side = Attachment(client, self.create(client, text="milk"))
        client.request("note/close", {"attachment": side.number})
        side.edit(0, 0, "oat ")
        side.edit(8, 8, "!")
        side.settle()
        self.assertEqual(self.read(client, side.note), "oat milk!")

    def test_a_note_that_cannot_be_opened_again_stays_in_its_text(self):
        client = self.connect()
        side = Attachment(client, self.create(client, text="milk"))
        side._options["id"] = "nothing"
        self.kill(client)
        side.set_text("oat milk")
        with self.assertRaisesRegex(ClientError, "there is no note"):
            side.settle()
        side._options["id"] = side.note
        side.settle()
        self.assertEqual(self.read(client, side.note), "oat milk")

    def test_an_observer_sees_what_happened_while_its_server_was_away(self):
        client, other = self.connect(), self.connect()
        observer = Attachment(client, self.create(client, text="a"), mode="observe")
        seen = []
        observer.on_change = seen.append
        self.assertTrue(eventually(lambda: self.knows(other, observer.note)))
        self.kill(client, signal.SIGSTOP)
        other.request("note/append", {"id": observer.note, "text": "b"})
        self.kill(client)
        self.assertTrue(eventually(lambda: seen == ["ab"]))

    def read(self, client, note):
        return client.request("note/get", {"id": note})["text"]

    def knows(self, client, note):
        return any(summary["id"] == note for summary in client.request("notebook/list")["notes"])

    def forget(self, client):
        """Kills the server, and with it all memory of what its clients show."""
        for journal in pathlib.Path(self.state).glob("decent-notes/*/journals/*"):
            journal.unlink()
        self.kill(client)

    # The command line

    def notes(self, *arguments, input=""):
        with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(input.encode()))):
            status, out, err = run("--notebook", self.notebook, *arguments)
        self.assertEqual((status, err), (0, ""), arguments)
        return out

    def test_the_command_line(self):
        note = self.notes("new", "Shopping", "--text", "milk\n").strip()
        self.assertEqual(self.notes("show", note[:-1]), "milk\n")
        self.assertEqual(self.notes("show", "Shopping"), "milk\n")
        self.assertEqual(self.notes("list"), f"0\t{note}\tShopping\t\tnormal\n")
        self.assertEqual(json.loads(self.notes("list", "--json"))[0]["id"], note)
        self.assertEqual(json.loads(self.notes("call", "note/get", json.dumps({"id": note})))["text"], "milk\n")
        for arguments in [("show", "Nothing"), ("priority", "Shopping", "huge"), ("move", "Shopping", "up"),
                          ("tag", "Shopping", "home"), ("tag", "Shopping", ""), ("show", "Shopping", "--revision", "?")]:
            status, out, err = run("--notebook", self.notebook, *arguments)
            self.assertEqual((status, out, err.count("\n")), (1, "", 1), arguments)

    def test_the_command_line_changes_notes(self):
        first = self.notes("new", "Shopping", "--text", "-", input="milk").strip()
        second = self.notes("new", "Reading").strip()
        self.notes("tag", "Shopping", "+home", "-work", "+leisure time")
        self.notes("tag", "Shopping", "-home")
        self.notes("priority", "Shopping", "high")
        self.notes("title", "Reading", "Books")
        self.notes("move", "Shopping", "0")
        self.assertEqual(self.notes("list"), f"0\t{first}\tShopping\tleisure time\thigh\n1\t{second}\tBooks\t\tnormal\n")
        self.notes("append", "Shopping", input="eggs\n")
        self.notes("append", "Shopping", input="bread\n")
        self.assertEqual(self.notes("show", "Shopping"), "milk\neggs\nbread")
        self.assertEqual(self.notes("search", "EGG"), f"{first}\tShopping\teggs\n")
        history = [line.split("\t") for line in self.notes("history", "Shopping").splitlines()]
        self.assertEqual(
            [entry[2:5] for entry in history],
            [["+6", "-0", "text"], ["+5", "-0", "text"], ["+0", "-0", "priority"], ["+0", "-0", "tags"],
             ["+0", "-0", "tags"], ["+4", "-0", "created"]])
        self.assertTrue(all(entry[5] for entry in history), "everybody has a name")
        self.assertEqual(self.notes("show", "Shopping", "--revision", history[1][0]), "milk\neggs")
        self.notes("delete", "Books")
        self.assertEqual([self.notes("list").count("\n"), self.notes("list", "--trash").count("Books")], [1, 1])
        self.notes("restore", "Books")
        self.assertEqual(self.notes("list").count("\n"), 2)

    def test_a_name_that_several_notes_have_is_refused_with_their_ids(self):
        ids = [self.notes("new", "Same").strip() for _ in range(2)]
        status, out, err = run("--notebook", self.notebook, "show", "Same")
        self.assertEqual((status, out), (1, ""))
        self.assertTrue(all(note in err for note in ids) and "2 notes" in err, err)

    def test_a_text_ends_its_last_line_in_a_terminal_only(self):
        for text, shown in [("milk", b"milk\r\n"), ("milk\n", b"milk\r\n"), ("", b"")]:
            note = self.notes("new", "Reading", "--text", text).strip()
            self.assertEqual(self.notes("show", note), text)
            ours, theirs = os.openpty()
            command = [sys.executable, dn.__file__, "--notebook", self.notebook, "show", note]
            subprocess.run(command, stdout=theirs, check=True)
            os.write(theirs, b"|")
            seen = b""
            while not seen.endswith(b"|"):
                seen += os.read(ours, 100)
            self.assertEqual(seen, shown + b"|")
            os.close(ours)
            os.close(theirs)

    def edit(self, text, program, title="Shopping"):
        """Edits a note with an editor that runs this program on the path `file`; its status, standard
        output and error, and the text after it."""
        note = self.notes("new", title, "--text", text).strip()
        script = pathlib.Path(self.notebook).parent / "editor.py"
        script.write_text(f"""
import os, pathlib, subprocess, sys
def notes(*words):
    subprocess.run([sys.executable, {dn.__file__!r}, "--notebook", {self.notebook!r}, *words], check=True)
note, file = {note!r}, pathlib.Path(sys.argv[1])
{program}
""")
        with mock.patch.dict(os.environ, {"VISUAL": shlex.join([sys.executable, str(script)])}):
            result = run("--notebook", self.notebook, "edit", note)
        return *result, self.notes("show", note)

    def test_editing_a_file_merges_what_others_did_meanwhile(self):
        self.assertEqual(
            self.edit("milk\neggs\n", """
subprocess.run([sys.executable, %r, "--notebook", %r, "append", note], input=b"bread\\n", check=True)
file.write_text("oat " + file.read_text())""" % (dn.__file__, self.notebook)),
            (0, "saved, merged with what others changed\n", "", "oat milk\neggs\nbread\n"))

    def test_what_editors_do_to_files(self):
        for text, program, expected in [
                ("milk\n", 'file.write_text("")', ""),
                ("", 'file.write_text("milk\\n")', "milk"),
                ("milk", 'file.write_text("milk\\neggs\\n")', "milk\neggs"),
                ("milk\n", 'new = file.with_suffix(".new"); new.write_text("oat milk\\n"); new.rename(file)', "oat milk\n"),
                ("a\r\nb\r\n", 'file.write_bytes(file.read_bytes() + b"c\\r\\n")', "a\r\nb\r\nc\r\n"),
                ("a\r\nb", 'file.write_bytes(b"a\\r\\nb!\\r\\n")', "a\r\nb!")]:
            with self.subTest(program):
                self.assertEqual(self.edit(text, program), (0, "saved\n", "", expected))

    def test_a_text_that_was_not_changed_is_not_sent(self):
        for text, program in [("milk", ""), ("milk", 'file.write_text("milk\\n")'), ("", "file.touch()")]:
            self.assertEqual(self.edit(text, program), (0, "", "", text))

    def test_a_note_that_is_in_the_trash_comes_out_of_it_when_it_is_edited(self):
        status, out, err, text = self.edit("milk", 'notes("delete", note); file.write_text("oat milk")')
        self.assertEqual((status, out, err, text), (0, "saved\n", "", "oat milk"))
        note = self.notes("list").split("\t")[1]
        self.notes("delete", note)
        with mock.patch.dict(os.environ, {"VISUAL": "sh -c 'echo eggs >>\"$0\"'"}):
            self.assertEqual(self.notes("edit", note), "saved, taken out of the trash\n")
        self.assertIn(note, self.notes("list"))

    def test_a_text_that_cannot_be_saved_is_kept_in_its_file(self):
        for program, reason in [('file.write_bytes(b"\\xff")', "can't decode byte 0xff"),
                                ('file.write_bytes(b"a\\0b")', "U+0000"),
                                ('file.write_text("b"); sys.exit(3)', "ended with status 3"),
                                ('file.write_text("b"); os.kill(os.getppid(), 2); os.kill(os.getpid(), 9)', "status -9")]:
            with self.subTest(program):
                status, out, err, text = self.edit("milk", program)
                self.assertEqual((status, out, err.count("\n"), text), (1, "", 1, "milk"))
                self.assertIn(reason, err)
                file = pathlib.Path(err.split("the text is kept in ")[1].split()[0])
                self.assertIn(file.read_bytes(), [b"\xff", b"a\0b", b"b"])
                file.unlink()
                file.parent.rmdir()

    def test_no_file_is_kept_of_a_text_that_was_not_changed(self):
        temporary = mock.patch.object(tempfile, "tempdir", str(pathlib.Path(self.notebook).parent))
        temporary.start()
        self.addCleanup(temporary.stop)
        for program in ["sys.exit(3)", "file.unlink()"]:
            status, _, err, text = self.edit("milk", program)
            self.assertEqual((status, err.count("\n"), "kept" in err, text), (1, 1, False, "milk"))
        self.notes("new", "Reading")
        with mock.patch.dict(os.environ, {"VISUAL": "/no/such/editor"}):
            status, _, err = run("--notebook", self.notebook, "edit", "Reading")
        self.assertEqual((status, "/no/such/editor" in err, "kept" in err), (1, True, False))
        self.assertEqual(list(pathlib.Path(self.notebook).parent.glob("decent-notes-*")), [])

    def test_an_editor_may_outlive_the_server(self):
        original, clients = Client._start, []
        with mock.patch.object(Client, "_start", lambda client: clients.append(client) or original(client)), \
                mock.patch("subprocess.call", lambda command: self.kill(clients[-1]) or eventually(
                    lambda: len(clients) > 2 and not clients[-1].connection.lost)
                    and pathlib.Path(command[-1]).write_text("oat milk") and 0):
            status, out, err, text = self.edit("milk", "")
        self.assertEqual((status, out, err, text), (0, "saved\n", "", "oat milk"))


if __name__ == "__main__":
    unittest.main()
