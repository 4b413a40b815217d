"""Notes and files, notes that are forgotten for good, and very long messages.

Run with the others: python3 -m unittest discover clients/python
"""
import io
import os
import pathlib
import signal
import sys
import tempfile
import threading
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import decent_notes as dn  # noqa: E402
from decent_notes import Attachment, Client, ClientError  # noqa: E402


class Broken(unittest.TestCase):
    def test_what_is_no_message_is_refused(self):
        class Endless(io.RawIOBase):
            def __init__(self, piece):
                self.piece = piece

            def readable(self):
                return True

            def readinto(self, buffer):
                buffer[:] = (self.piece * len(buffer))[: len(buffer)]
                return len(buffer)

        for stream in (Endless(b"a"), Endless(b"Header: line\n")):
            with self.assertRaisesRegex(ValueError, "do not end"):
                dn.read_message(io.BufferedReader(stream))
        for sent, problem in ((b"Hello, who is there?\n", "no header: Hello"),
                              (b"Content-Length: 99999999999\r\n\r\n{", "a message of 99999999999 bytes")):
            with self.assertRaisesRegex(ValueError, problem):
                dn.read_message(io.BytesIO(sent))

    def test_a_program_that_never_ends_its_line_is_given_up(self):
        with self.assertRaisesRegex(ClientError, "does not speak the protocol.*do not end"):
            with Client(command=["sh", "-c", "tr '\\0' a </dev/zero"]):
                pass


class Files(unittest.TestCase):
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
        self.folder = pathlib.Path(folder.name)
        state = mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(self.folder / "state")})
        state.start()
        self.addCleanup(state.stop)

    def client(self):
        return Client(str(self.folder / "Notes"))

    def write(self, folder, **files):
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f"{name}.md").write_text(text)
        return folder

    def test_a_folder_is_imported_and_exported(self):
        files = self.write(self.folder / "in", one="first\n", two="second", bad="a\0b")
        with self.client() as client:
            result = client.import_(files, dry_run=True)
            self.assertEqual((result["created"], client.request("notebook/list")["notes"]), (2, []))
            result = client.import_(str(files))
            self.assertEqual((result["created"], [it["path"] for it in result["skipped"]]), (2, ["bad.md"]))
            notes = client.request("notebook/list")["notes"]
            self.assertEqual([note["path"] for note in notes], ["one.md", "two.md"])
            client.request("note/append", {"id": notes[0]["id"], "text": "and more"})
            self.assertEqual(client.export(files)["written"], 1)
            self.assertIn("and more", (files / "one.md").read_text())
            other = self.write(self.folder / "other", mine="mine")
            with self.assertRaises(dn.ResponseError) as caught:
                client.export(other)
            self.assertEqual(caught.exception.reason, "notEmpty")
            self.assertEqual(client.export(other, into=True)["written"], 2)

    def test_an_import_tells_how_far_it_is_and_can_be_interrupted(self):
        files = self.write(self.folder / "in", **{str(number): f"{number}\n" for number in range(4000)})
        seen, main = [], threading.main_thread()
        # Whoever has started the tests may have it ignored, or blocked.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

        def interrupt(words):
            if not seen:
                signal.pthread_kill(main.ident, signal.SIGINT)
            seen.append(words)

        with self.client() as client:
            with self.assertRaises(KeyboardInterrupt):
                client.import_(files, on_progress=interrupt)
            self.assertRegex(seen[0], "^[0-9]+ of 4000 files$")
            self.assertTrue(0 < len(client.request("notebook/list")["notes"]) < 4000)

    def test_thousands_are_forgotten_with_some_requests_at_once(self):
        with self.client() as client:
            under_way = [client.connection.request_async("note/create", {"title": str(it)}) for it in range(3000)]
            made = [it.result()["note"]["id"] for it in under_way]
            for it in [client.connection.request_async("note/delete", {"id": note}) for note in made[1:]]:
                it.result()
            seen = []
            errors = client.purge(*made, on_progress=seen.append)
            self.assertEqual({note: error.reason for note, error in errors.items()}, {made[0]: "notTrashed"})
            self.assertEqual((len(seen), seen[-1]), (3000, "3000 of 3000"))
            self.assertEqual(client.request("notebook/list", {"trashed": True})["notes"], [])
            self.assertEqual(client.purge(made[1]), {})  # forgotten by others, too, is forgotten
            self.assertEqual(client.purge(), {})

    def test_an_attachment_of_a_note_that_is_forgotten_ends_and_keeps_its_text(self):
        with self.client() as client, self.client() as other:
            note = client.request("note/create", {"title": "Note", "text": "precious"})["note"]["id"]
            attachment, ended = Attachment(client, note), threading.Event()
            attachment.on_end = ended.set
            other.request("note/delete", {"id": note})
            self.assertEqual(other.purge(note), {})
            self.assertTrue(ended.wait(30))
            self.assertEqual(attachment.text, "precious")
            with self.assertRaisesRegex(ClientError, "purged"):
                attachment.set_text("more")
            attachment.close()

    def test_what_was_typed_and_not_taken_when_its_note_was_forgotten_is_kept_in_a_file(self):
        with self.client() as other:
            note = other.request("note/create", {"title": "Note", "text": "old"})["note"]["id"]
            with self.assertRaisesRegex(ClientError, "the text is kept in ") as caught:
                with self.client() as client:
                    attachment, ended = Attachment(client, note), threading.Event()
                    attachment.on_end = ended.set
                    process = client.connection.process
                    process.send_signal(signal.SIGSTOP)
                    attachment.set_text("old and new")
                    other.request("note/delete", {"id": note})
                    other.purge(note)
                    process.kill()
                    self.assertTrue(ended.wait(30))
            kept = pathlib.Path(str(caught.exception).rpartition("kept in ")[2])
            self.assertEqual(kept.read_text(), "old and new")

    def test_a_note_of_40_megabytes_is_opened_and_changed(self):
        part = "fifty bytes, of which é and ✓ are five in each..\n" * 160_000
        with self.client() as client, self.client() as other:
            note = client.request("note/create", {"title": "Long"})["note"]["id"]
            for _ in range(5):
                client.request("note/append", {"id": note, "text": part})
            attachment = Attachment(other, note)
            self.assertEqual(attachment.text, part * 5)
            attachment.edit(len(attachment.text), len(attachment.text), "the end")
            attachment.settle()
            self.assertTrue(client.request("note/get", {"id": note})["text"].endswith("the end"))


if __name__ == "__main__":
    unittest.main()
