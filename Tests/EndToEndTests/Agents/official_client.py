"""Uses `decent-notes mcp` by the official SDK of the Model Context Protocol, in one of its modes.

    official_client.py PROGRAM NOTEBOOK auto|legacy|2026-07-28

It prints what was done, line by line, and ends with status 0 if all was as it has to be. Only tests use it.
"""

import asyncio
import json
import subprocess
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

PROGRAM, NOTEBOOK, MODE = sys.argv[1:4]
IS_LEGACY = MODE == "legacy"
TOOLS = (
    "search_notes list_notes read_note links_of create_note append_note edit_note update_note"
    " delete_note restore_note"
).split()


def run(*words):
    """Another process at the same notebook."""
    command = [PROGRAM, "--notebook", NOTEBOOK, "--name", "Ben", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def server(*options):
    return StdioServerParameters(command=PROGRAM, args=["--notebook", NOTEBOOK, "mcp", *options])


def client(*options, handler=None):
    return Client(
        server(*options),
        mode=MODE,
        read_timeout_seconds=60,
        message_handler=handler,
        client_info=types.Implementation(name=f"sdk {MODE}", version="1"),
    )


async def call(agent, tool, **arguments):
    """Calls a tool; returns what it gives, which stands there twice."""
    result = await agent.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def failure(agent, tool, **arguments):
    """The sentence with which a tool fails."""
    result = await agent.call_tool(tool, arguments)
    assert result.is_error and result.structured_content is None, result
    return result.content[0].text


async def use_tools():
    async with client() as agent:
        assert agent.protocol_version == ("2025-11-25" if IS_LEGACY else "2026-07-28")
        if MODE != "2026-07-28":
            assert agent.server_info.name == "decent-notes"
            assert "edit_note" in agent.instructions
        tools = (await agent.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        for tool in tools:
            assert tool.input_schema["type"] == "object", tool.name
            for schema in tool.input_schema["properties"].values():
                assert isinstance(schema["type"], str) and schema["type"] != "object", tool.name
        print("tools listed")

        made = await call(agent, "create_note", title="Plan", text="milk\neggs\n", tags=["home"])
        note = made["id"]
        seen = await call(agent, "read_note", id=note)
        assert (seen["title"], seen["text"], seen["tags"]) == ("Plan", "milk\neggs\n", ["home"])
        run("append", note, "bread")
        edit = {"id": note, "base": seen["revision"], "old": "milk", "new": "oat milk"}
        tried = await call(agent, "edit_note", **edit, dry_run=True)
        assert tried["lines"] == "oat milk"
        assert (await call(agent, "read_note", id=note))["text"] == "milk\neggs\nbread\n"
        edited = await call(agent, "edit_note", **edit)
        assert edited["merged"] is True and edited["lines"] == "oat milk"
        await call(agent, "append_note", id=note, text="tea")
        seen = await call(agent, "read_note", id=note)
        assert seen["text"] == "oat milk\neggs\nbread\ntea\n", seen
        past = await call(agent, "read_note", id=note, revision=made["revision"])
        assert past["text"] == "milk\neggs\n"
        print("edited and merged")

        assert "several times" in await failure(
            agent, "edit_note", id=note, base=seen["revision"], old="e", new="E")
        assert "read_note" in await failure(
            agent, "edit_note", id=note, base=seen["revision"], old="soap", new="x")
        assert "read_note" in await failure(
            agent, "edit_note", id=note, base="nothing.1", old="eggs", new="x")
        assert "search_notes" in await failure(agent, "read_note", id="1-0000")
        assert "there is no such argument" in await failure(agent, "read_note", id=note, nam="x")
        assert "limit" in await failure(agent, "list_notes", limit=0)
        assert "title" in await failure(agent, "create_note")
        assert "U+0000" in await failure(agent, "append_note", id=note, text="a\0b")
        for name in ["no_such_tool", "notebook/purge", "note/purge"]:
            try:
                await agent.call_tool(name, {})
                raise AssertionError(f"{name} was called")
            except MCPError as error:
                assert error.code == -32602, error
        print("mistakes are told")

        changed = await call(
            agent, "update_note", id=note, title="Shopping", add_tags=["now"],
            remove_tags=["home"], priority="high")
        assert (changed["title"], changed["tags"], changed["priority"]) == ("Shopping", ["now"], "high")
        other = (await call(agent, "create_note", title="Week", text="see [[Shopping]]"))["id"]
        links = await call(agent, "links_of", id=other)
        assert [(link["target"], link["id"]) for link in links["links"]] == [("Shopping", note)]
        backlinks = (await call(agent, "links_of", id=note))["backlinks"]
        assert [link["id"] for link in backlinks] == [other]
        found = await call(agent, "search_notes", query="OAT -soap")
        assert [one["id"] for one in found["notes"]] == [note] and not found["more"]
        await call(agent, "delete_note", id=other)
        assert [one["id"] for one in (await call(agent, "list_notes", trashed=True))["notes"]] == [other]
        await call(agent, "restore_note", id=other)
        first = await call(agent, "list_notes", sort="title", limit=1)
        second = await call(agent, "list_notes", sort="title", limit=1, cursor=first["next"])
        assert [one["title"] for one in first["notes"] + second["notes"]] == ["Shopping", "Week"]
        print("the other tools work")
        return note


async def use_resources(note):
    async with client() as agent:
        templates = (await agent.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "note://{id}", "note://{id}{?from_line,to_line,offset}"]
        listed, cursor = [], None
        while True:
            page = await agent.list_resources(cursor=cursor)
            listed += page.resources
            cursor = page.next_cursor
            if cursor is None:
                break
        assert {"Shopping", "Week"} <= {resource.title for resource in listed}
        contents = (await agent.read_resource(f"note://{note}")).contents
        assert contents[0].text == "oat milk\neggs\nbread\ntea\n"
        try:
            await agent.read_resource("note://1-0000")
            raise AssertionError("a note that is not there was read")
        except MCPError as error:
            assert error.code == (-32002 if IS_LEGACY else -32602), error
        print("resources are read")


async def be_told(note):
    told = asyncio.Queue()

    async def handler(message):
        if not isinstance(message, Exception):
            await told.put(message)

    uri = f"note://{note}"
    async with client(handler=handler) as agent:
        if IS_LEGACY:
            await agent.subscribe_resource(uri)
            run("append", note, "told")
            run("new", "Another")
            kinds = set()
            while len(kinds) < 2:
                message = await asyncio.wait_for(told.get(), 60)
                if isinstance(message, types.ResourceUpdatedNotification):
                    assert message.params.uri == uri
                kinds.add(message.method)
            assert kinds == {
                "notifications/resources/updated", "notifications/resources/list_changed"}
            await agent.unsubscribe_resource(uri)
        else:
            async with agent.listen(
                resources_list_changed=True, resource_subscriptions=[uri]
            ) as events:
                run("append", note, "told")
                run("new", "Another")
                kinds = set()
                async for event in events:
                    kinds.add(type(event).__name__)
                    if len(kinds) == 2:
                        break
                assert kinds == {"ResourceUpdated", "ResourcesListChanged"}
    print("told of changes")


async def read_only(note):
    async with client("--read-only") as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == TOOLS[:4]
        for tool in TOOLS[4:]:
            try:
                await agent.call_tool(tool, {"id": note, "title": "x", "text": "x"})
                raise AssertionError(f"{tool} was called")
            except MCPError as error:
                assert error.code == -32602 and "may be changed" in error.message, error
        assert (await call(agent, "read_note", id=note))["title"] == "Shopping"
    print("read-only")


async def main():
    note = await use_tools()
    await use_resources(note)
    await be_told(note)
    await read_only(note)
    authors = {
        json.loads(line)["author"]["name"] for line in run("history", note, "--json").splitlines()}
    assert authors == {"Ben", f"sdk {MODE}"}, authors
    print("named in history")


asyncio.run(main())
