"""A real Neovim without a screen, with the set-up of docs/editors.md."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import ROOT

DOCS = ROOT / "docs" / "editors.md"
WAIT_S = 60
PRELUDE = """
local function wait(what, check)
  if not vim.wait(30000, check, 20) then error('waited in vain for ' .. what) end
end
local function at(words)
  vim.fn.cursor(1, 1)
  vim.fn.search(words, 'cW')
end
local function keys(typed)
  vim.api.nvim_feedkeys(vim.keycode(typed), 'xt', false)
end
local function keys_later(typed)
  vim.api.nvim_feedkeys(vim.keycode(typed), 't', false)
end
local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\\n')
    end
  end
end
local function pick() -- the first choice, when Neovim asks for one
  if vim.fn.mode() ~= 'n' then keys_later('1<CR>') end
end
local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')
end
local function name()
  return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t')
end
local messages = {}
vim.notify = function(message) table.insert(messages, message) end
"""
STARTED = """
wait('the server', function()
  local client = vim.lsp.get_clients({ name = 'rawkomem', bufnr = 0 })[1]
  return client and client.initialized
end)
"""
ENDING = """
local function finish(fine, said)
  vim.fn.writefile({ vim.json.encode(fine and said or { error = said }) }, '{answer}')
  vim.cmd('qall!')
end
local function poll(check)
  local fine, said = pcall(check)
  if said or not fine then finish(fine, said) else vim.defer_fn(function() poll(check) end, 50) end
end
local fine, said = pcall(story)
if type(said) == 'function' then poll(said) else finish(fine, said) end
"""


def until(what: str, check: Callable[[], object]) -> None:
    """Wait until a check holds."""
    end = time.monotonic() + WAIT_S
    while not check():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)


def find(program: str) -> str:
    """The editor that tools/fetch_editors.py fetched, or else the one on the PATH."""
    fetched = ROOT / ".editors" / "bin" / program
    return str(fetched) if fetched.exists() else shutil.which(program) or ""


def code_in_docs(language: str) -> str:
    """The only block of a language on the page."""
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    return code


def keys_on_page(editor: str) -> list[str]:
    """The keys and commands in the column of an editor, of the table at the top of the page."""
    table = DOCS.read_text().partition("\n\n| you want to")[2].partition("\n\n")[0]
    titles, _, *rows = ([cell.strip() for cell in line.split(" | ")] for line in table.splitlines())
    column = [title.strip("| ") for title in titles].index(editor)
    return [keys for row in rows for keys in re.findall("`([^`]+)`", row[column])]


def home_with(folder: Path, file: str, text: str) -> dict[str, str]:
    """The environment of the test's person with a configuration file of an editor, and with `rawkomem` on the PATH."""
    config = Path(os.environ["XDG_CONFIG_HOME"], file)
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)
    script = folder / "bin" / "rawkomem"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m rawkomem "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PATH": path}


def start_old_neovim(folder: Path, file: Path) -> str:
    """Open a file in the Neovim of the system, which is too old, and return what it prints."""
    env = home_with(folder, "nvim/plugin/rawkomem.lua", code_in_docs("lua"))
    command = [shutil.which("nvim") or "nvim", "--headless", "-i", "NONE", "-n", str(file), "-c", "qall!"]
    done = subprocess.run(command, check=True, env=env, timeout=WAIT_S, capture_output=True, text=True)
    return done.stdout + done.stderr


def edit_in_neovim(folder: Path, file: Path, story: str) -> dict:
    """Open a file and run a story in Lua; returns the table that it returns.

    A story that types `keys_later` returns a function instead: Neovim handles the keys after the story, and calls the
    function until it returns a table.
    """
    env = home_with(folder, "nvim/plugin/rawkomem.lua", code_in_docs("lua"))
    answer = folder / "answer.json"
    started = STARTED if ".rawko" in file.parts else ""
    body = f"local function story()\n{PRELUDE}\n{started}\n{story}\nend\n"
    (folder / "story.lua").write_text(body + ENDING.replace("{answer}", str(answer)))
    command = [find("nvim"), "--headless", "-i", "NONE", "-n", str(file), "-c", f"luafile {folder / 'story.lua'}"]
    done = subprocess.run(
        command, check=False, env=env, cwd=file.parent, timeout=WAIT_S, capture_output=True, text=True
    )
    assert answer.exists(), done.stderr
    said = json.loads(answer.read_text())
    assert "error" not in said, said["error"] + done.stderr
    return said
