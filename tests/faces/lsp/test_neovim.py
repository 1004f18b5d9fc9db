"""Every feature of docs/editors.md in a real Neovim, with the keys and commands that the page names."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rawkomem.model.entries import Task
from rawkomem.repository import Repository

from tests.faces.lsp.neovim import edit_in_neovim, find, keys_on_page, start_old_neovim

pytestmark = pytest.mark.editors


@pytest.fixture
def edited(stored, tmp_path_factory):
    """Run a story in Neovim with queue-limits.md of the sample open, or with another file."""
    assert find("nvim"), "run 'make test-editors', which fetches Neovim"
    Repository.open(str(stored)).sync()
    subprocess.run(["git", "init", "-q", str(stored)], check=True)
    limits = stored / ".rawko" / "memories" / "queue-limits.md"
    return lambda story, file=limits: edit_in_neovim(tmp_path_factory.mktemp("neovim"), file, story)


def test_every_key_and_command_of_the_page_is_tried_here():
    tried = Path(__file__).read_text("utf-8")
    named = [re.sub(r"Ctrl-(\S) ?", lambda key: f"<C-{key[1].lower()}>", keys) for keys in keys_on_page("Neovim")]
    commands = [keys.removeprefix(":").split()[0] if "Rawko" in keys else keys for keys in named]
    assert len(commands) > 10 and [keys for keys in commands if keys not in tried] == []


def test_an_old_neovim_says_which_version_it_needs(stored, tmp_path):
    """Debian's 0.7, where every line of the set-up would fail."""
    version = (
        subprocess.run(["nvim", "--version"], check=False, capture_output=True, text=True).stdout
        if shutil.which("nvim")
        else ""
    )
    if not re.match(r"NVIM v0\.([0-9]|10)\.", version):
        pytest.skip("no Neovim before 0.11 is installed")
    said = start_old_neovim(tmp_path, stored / ".rawko" / "memories" / "queue-limits.md")
    assert said.strip() == "Neovim 0.11 or newer is needed for rawkomem: see https://neovim.io"


def test_diagnostics_are_shown_and_mark_their_cause(edited):
    said = edited("""
      wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
      local found = {}
      for _, one in ipairs(vim.diagnostic.get(0)) do
        local line = vim.api.nvim_buf_get_lines(0, one.lnum, one.lnum + 1, false)[1]
        found[one.code] = line:sub(one.col + 1, one.end_col)
      end
      at('"nobody"')
      keys('<C-w>d')
      return { found = found, shown = floating() }
    """)
    assert said["found"]["broken-link"] == "nobody"
    assert "no such memory" in said["shown"]


@pytest.mark.parametrize("typed, offered, line", [
    ("GoSee [[jitt", ["mem_1700000000000_abc123"], "See [[mem_1700000000000_abc123"),
    ("ggoimportan", ["importance"], "importance: "),
    ("gg3jcctags: [net", ["network"], "tags: [network"),
    ("ggoimportance: cri", ["critical"], "importance: critical"),
])  # fmt: skip
def test_completion_offers_memories_keys_and_tags_that_fit(edited, typed, offered, line):
    said = edited(f"""
      vim.o.completeopt = 'menuone,noinsert'
      keys_later('{typed}<C-x><C-o>')
      local offered
      return function()
        local items = vim.fn.complete_info({{ 'items' }}).items
        if not offered and #items > 0 then
          offered = vim.tbl_map(function(item) return item.abbr end, items)
          keys_later('<C-y><Esc>')
        end
        return offered and vim.fn.mode() == 'n' and {{ offered = offered, line = vim.fn.getline('.') }}
      end
    """)
    assert said == {"offered": offered, "line": line}


def test_hover_shows_a_card_and_the_tasks_of_a_condition(edited, stored):
    repository = Repository.open(str(stored))
    for task in ("drain the queue slowly", "write the docs", "make the queue longer"):
        repository.inject(Task(task))
    said = edited("""
      local function hovered(words)
        at(words)
        keys('K')
        wait('a card', floating)
        local shown = floating()
        keys('<C-w>o')
        return shown
      end
      local memory, fired = hovered('mem_1700000000000_abc123|'), hovered('queue"')
      vim.cmd.edit('retry-with-jitter.md')
      return { memory = memory, fired = fired, idle = hovered('retry|') }
    """)
    assert "Retry with jitter" in said["memory"] and "active" in said["memory"]
    assert "drain the queue slowly" in said["fired"] and "make the queue longer" in said["fired"]
    assert "write the docs" not in said["fired"] and "fired on none" in said["idle"]


def test_definition_and_references(edited):
    said = edited("""
      at('mem_1700000000000_abc123|')
      keys('grr')
      wait('references', function() return #vim.fn.getqflist() > 0 end)
      local places = vim.tbl_map(function(item) return item.lnum end, vim.fn.getqflist())
      vim.cmd.cclose()
      at('mem_1700000000000_abc123|')
      keys('<C-]>')
      wait('the definition', function() return name() ~= 'queue-limits.md' end)
      return { places = places, name = name() }
    """)
    assert sorted(said["places"]) == [1, 5, 8] and said["name"] == "retry-with-jitter.md"


def test_symbols_of_the_workspace(edited):
    said = edited("""
      keys_later(':lua vim.lsp.buf.workspace_symbol()<CR>jitter<CR>')
      return function()
        local found = vim.tbl_map(function(item) return item.text end, vim.fn.getqflist())
        return #found > 0 and { found = found }
      end
    """)
    assert len(said["found"]) == 1 and "Retry with jitter" in said["found"][0]


def test_lenses_stand_above_the_text_and_lead_to_the_newer_memory(edited, stored):
    repository = Repository.open(str(stored), via="person")
    repository.beliefs.supersede("queue-limits", "retry-with-jitter", anyway=True)
    repository.feedback("queue-limits", "helpful")
    said = edited("""
      local function lenses()
        local shown = {}
        vim.cmd('redraw!')
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })) do
          for _, line in ipairs(mark[4].virt_lines or {}) do
            local words = vim.iter(line):map(function(part) return part[1] end):join('')
            if words:find('superseded') then table.insert(shown, { line = mark[2], words = words }) end
          end
        end
        return shown
      end
      wait('lenses', function() return #lenses() > 0 end)
      local shown = lenses()
      vim.fn.cursor(1, 1)
      keys_later('grx')
      return function()
        pick()
        return name() ~= 'queue-limits.md' and { shown = shown, name = name() }
      end
    """)
    (lens,) = said["shown"]
    assert lens["line"] == 0 and "superseded by Retry with jitter" in lens["words"] and "1 helpful" in lens["words"]
    assert said["name"] == "retry-with-jitter.md"


@pytest.mark.parametrize("how", [":RawkoAmend<CR>", "gra"])
def test_amending_appends_an_entry_that_is_stored_when_it_is_saved(edited, stored, how):
    story = f"""
      at('The ')
      keys_later('{how}')
      return function()
        pick()
        if not vim.bo.modified then return end
        local before = #vim.fn.readfile(vim.api.nvim_buf_get_name(0))
        SAVE
        return {{ before = before, after = vim.fn.line('$') }}
      end
    """
    lost = edited(story.replace("SAVE", ""))
    assert lost["after"] > lost["before"] and Repository.open(str(stored)).get("queue-limits").entries == 2
    said = edited(story.replace("SAVE", "vim.cmd.write()"))
    memory = Repository.open(str(stored)).get("queue-limits")
    assert said == lost and memory.entries == 3 and memory.body.startswith("The 😀 queue holds")


def test_nothing_is_renamed(edited):
    said = edited("""
      local client = vim.lsp.get_clients({ name = 'rawkomem' })[1]
      return { renames = client:supports_method('textDocument/rename') }
    """)
    assert not said["renames"]


def test_a_new_memory_is_a_buffer_that_is_stored_when_it_is_saved(edited, stored):
    said = edited("""
      vim.cmd.RawkoNew('Why we pin apsw')
      wait('the new file', function() return name() == 'why-we-pin-apsw.md' and text():find('title: ') end)
      local saved = table.concat(vim.fn.readfile(vim.api.nvim_buf_get_name(0)), '')
      vim.cmd.write()
      return { saved = saved, text = text(), messages = messages }
    """)
    assert said["saved"] == "" and "title: Why we pin apsw" in said["text"] and not said["messages"]
    assert Repository.open(str(stored)).get("why-we-pin-apsw").title == "Why we pin apsw"


def test_search_fills_the_quickfix_list(edited):
    said = edited("""
      vim.cmd.RawkoSearch('jitter of retries')
      wait('results', function() return #vim.fn.getqflist() > 0 end)
      vim.cmd.cfirst()
      return { name = name(), title = vim.fn.getqflist({ title = 1 }).title }
    """)
    assert said == {"name": "retry-with-jitter.md", "title": "rawkomem: jitter of retries"}


def test_why_tells_whether_a_memory_is_recalled(edited):
    said = edited("""
      at('The ')
      vim.cmd.RawkoWhy('make the queue longer')
      wait('an explanation', floating)
      return { shown = floating() }
    """)
    assert said["shown"].startswith("Queue limits: recalled for this task")


def test_a_command_goes_to_the_server_of_the_project_of_the_buffer(edited, stored, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "project"
    shutil.copytree(stored, other)
    said = edited(f"""
      vim.cmd.edit('{other}/.rawko/memories/queue-limits.md')
      wait('two servers', function()
        local here = vim.lsp.get_clients({{ name = 'rawkomem', bufnr = 0 }})[1]
        return here and here.initialized and #vim.lsp.get_clients({{ name = 'rawkomem' }}) == 2
      end)
      vim.cmd.RawkoNew('Why we pin apsw')
      wait('the new file', function() return name() == 'why-we-pin-apsw.md' end)
      return {{ file = vim.api.nvim_buf_get_name(0) }}
    """)
    assert said["file"] == str(other / ".rawko" / "memories" / "why-we-pin-apsw.md")
