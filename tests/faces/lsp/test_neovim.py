"""Every feature of docs/editors.md in a real Neovim, with the keys and commands that the page names."""

from __future__ import annotations

import subprocess

import pytest

from rawkomem.repository import Repository
from tests.faces.lsp.neovim import edit_in_neovim, find

pytestmark = pytest.mark.editors


@pytest.fixture
def edited(stored, tmp_path_factory):
    """Run a story in Neovim with queue-limits.md of the sample open."""
    assert find("nvim"), "run 'make test-editors', which fetches Neovim"
    Repository.open(str(stored)).sync()
    subprocess.run(["git", "init", "-q", str(stored)], check=True)
    file = stored / ".rawko" / "memories" / "queue-limits.md"
    return lambda story: edit_in_neovim(tmp_path_factory.mktemp("neovim"), file, story)


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
    assert said["found"]["broken-link"] == "nobody" and said["found"]["not-ideal-length"] == "title: Queue limits"
    assert "no such memory" in said["shown"]


def test_completion_offers_memories_that_fit(edited):
    said = edited("""
      vim.o.completeopt = 'menuone,noinsert'
      vim.api.nvim_feedkeys(vim.keycode('GoSee [[jitt<C-x><C-o>'), 't', false)
      local offered
      return function()
        local items = vim.fn.complete_info({ 'items' }).items
        if not offered and #items > 0 then
          offered = vim.tbl_map(function(item) return item.abbr end, items)
          vim.api.nvim_feedkeys(vim.keycode('<C-y>]]<Esc>'), 't', false)
        end
        local line = vim.fn.getline('$')
        return line:find(']]$') and vim.fn.mode() == 'n' and { offered = offered, line = line }
      end
    """)
    assert said == {"offered": ["mem_1700000000000_abc123"], "line": "See [[mem_1700000000000_abc123]]"}


def test_hover_shows_a_card_and_the_tasks_of_a_condition(edited):
    said = edited("""
      local function hovered(words)
        at(words)
        keys('K')
        wait('a card', floating)
        local shown = floating()
        keys('<C-w>o')
        return shown
      end
      return { memory = hovered('mem_1700000000000_abc123|'), condition = hovered('queue"') }
    """)
    assert "Retry with jitter" in said["memory"] and "active" in said["memory"]
    assert "fired on none" in said["condition"]


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
      vim.lsp.buf.workspace_symbol('jitter')
      wait('symbols', function() return #vim.fn.getqflist() > 0 end)
      return { found = vim.tbl_map(function(item) return item.text end, vim.fn.getqflist()) }
    """)
    assert len(said["found"]) == 1 and "Retry with jitter" in said["found"][0]


@pytest.mark.parametrize("how", ["vim.cmd.RawkoAmend()", "vim.lsp.buf.code_action({ apply = true })"])
def test_amending_appends_an_entry_that_is_stored_when_it_is_saved(edited, stored, how):
    said = edited(f"""
      at('The ')
      {how}
      wait('the edit', function() return vim.bo.modified end)
      local before = vim.fn.readfile(vim.api.nvim_buf_get_name(0))
      vim.cmd.write()
      return {{ before = #before, after = vim.fn.line('$') }}
    """)
    memory = Repository.open(str(stored)).get("queue-limits")
    assert said["after"] > said["before"] and memory.entries == 3 and memory.body.startswith("The 😀 queue holds")


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


def test_files_that_change_outside_are_noticed(edited, stored):
    said = edited("""
      local function broken()
        return #vim.tbl_filter(function(one) return one.code == 'broken-link' end, vim.diagnostic.get(0))
      end
      wait('diagnostics', function() return broken() == 1 end)
      vim.fn.writefile({ '---', 'title: Somebody', '---', '', 'Text.' }, vim.fn.expand('%:p:h') .. '/nobody.md')
      wait('the link to be good', function() return broken() == 0 end)
      return { fine = true }
    """)
    assert said["fine"]


def test_the_server_ends_with_neovim_and_without_a_word(edited):
    said = edited("""
      local client = vim.lsp.get_clients({ name = 'rawkomem' })[1]
      client:stop()
      wait('the end', function() return client:is_stopped() and #vim.lsp.get_clients() == 0 end)
      return { messages = messages, log = vim.fn.readfile(vim.lsp.log.get_filename()) }
    """)
    assert not said["messages"] and not [line for line in said["log"] if "Traceback" in line or "exit code" in line]
