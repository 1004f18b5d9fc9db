"""The forms of a citation, and the text of a symbol in many languages."""

import ast
import time
from pathlib import Path

import pytest
import rawkomem
from rawkomem.files.layout import Layout
from rawkomem.format.blocks import Citation, citations_in, read_citation, why_path_refused, with_citations
from rawkomem.git import citations
from rawkomem.git.citations import CitationChecks, TooLong, blob_id, mentions_symbol, symbol_text

from tests.commands import cases

BLOB = "0123456789ab"


@pytest.mark.parametrize(
    ("text", "citation"),
    [
        ("a/b.py", Citation("a/b.py")),
        ("a/b.py#f", Citation("a/b.py", "f")),
        (f"a/b.py@{BLOB}", Citation("a/b.py", blob=BLOB)),
        (f"a/b.py#C.f@{BLOB.upper()}", Citation("a/b.py", "C.f", blob=BLOB)),
        (f"a/b.py:10-20@{BLOB}", Citation("a/b.py", lines=(10, 20), blob=BLOB)),
        ("a/b.py:7", Citation("a/b.py", lines=(7, 7))),
        ("node_modules/@types/x.d.ts", Citation("node_modules/@types/x.d.ts")),
        (f"node_modules/@types/x.d.ts@{BLOB}", Citation("node_modules/@types/x.d.ts", blob=BLOB)),
        ("docs/C#.md", Citation("docs/C#.md")),
        ("a.cpp#ns::Thing::run", Citation("a.cpp", "ns::Thing::run")),
        ("a.py:20-10", Citation("a.py:20-10")),
        ("a.py@abc", Citation("a.py@abc")),  # too short for a blob
    ],
)
def test_forms(text, citation):
    assert read_citation(text) == citation


@pytest.mark.parametrize("text", ["a/b.py", "a/b.py#f", f"a/b.py#f@{BLOB}", f"a/b.py:10-20@{BLOB}"])
def test_what_is_written_reads_back(text):
    assert read_citation(text).text == text


def test_a_list_or_one_text():
    assert citations_in({"cites": ["a.py", " ", {"no": "text"}, "b.py "]}) == ["a.py", "b.py"]
    assert citations_in({"cites": "a.py"}) == ["a.py"]
    assert citations_in({}) == []


def test_the_same_place_is_cited_once():
    new = [read_citation(f"a.py#f@{BLOB}"), read_citation("c.py")]
    assert with_citations(["a.py#f@1111111", "b.py"], new) == ["b.py", f"a.py#f@{BLOB}", "c.py"]


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "~/x", "C:/x", "a\\b", "a\0b"])
def test_paths_that_lead_elsewhere(path):
    assert why_path_refused(path)


def test_python_symbols_are_what_the_parser_says():
    """Over this package itself: the text of every function, class and method is the one that `ast` delimits."""
    compared = 0
    for file in sorted(Path(rawkomem.__file__).parent.rglob("*.py"))[:: cases(1, 15)]:
        source = file.read_text()
        lines = source.split("\n")
        for name, node in named(ast.parse(source)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            assert "\n".join(lines[first - 1 : node.end_lineno]) in symbol_text(source, name, file.name), (file, name)
            compared += 1
    assert compared > 100


def named(tree):
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                yield from (
                    (f"{node.name}.{item.name}", item) for item in node.body if isinstance(item, ast.FunctionDef)
                )


GO = "type Server struct {\n\ta int\n}\n\nfunc (s *Server) Start(c C) error {\n\tx := `{\n`\n\treturn x\n}\n\nfunc after() {}\n"
RUST = "#[derive(Debug)]\npub struct T<'a> {\n    x: &'a str,\n}\n\nimpl<'a> T<'a> {\n    fn new(x: &'a str) -> Self {\n        let c = '{';\n        T { x }\n    }\n\n    fn b() {}\n}\n"
TYPESCRIPT = 'export class A<T> extends B {\n  x = /[{]"/;\n  async load(id: string): Promise<T> {\n    return `x ${id} {`;\n  }\n}\nexport const add = (a: number) => {\n  return a;\n};\nadd(1);\n'
C = "int declared(int x);\n\nstatic int\nhelper(int a)\n{\n\treturn a; /* } */\n}\n\nint add(int a)\n{\n\tchar c = '}';\n\treturn helper(a);\n}\n"
JAVA = '@A\npublic class J {\n    @Override\n    public String toString() {\n        return "x {";\n    }\n\n    void b() {}\n}\n'
RUBY = "class A\n  def foo(x)\n    if x\n      1\n    end\n  end\n\n  def bar = 1\nend\n"
LUA = "function M.foo(a)\n  return a -- end }\nend\nlocal function bar()\nend\n"
YAML = "jobs:\n  test:\n    runs-on: x\n  build: y\n"
MARKDOWN = "# A\n\n## Set up\ny\n### more\n\n## Next\nz\n"
PYTHON = 'X = {\n  1,\n}\n\n@route(\n    "/a",\n)\ndef f(\n    a,\n):\n    """\nat the margin\n    """\n# a remark\n    return a\n\n\n# about g\ndef g(): pass\n'


@pytest.mark.parametrize(
    ("path", "source", "symbol", "first", "last"),
    [
        ("a.go", GO, "Server.Start", "func (s *Server)", "}"),
        ("a.go", GO, "Server", "type Server", "}"),
        ("a.rs", RUST, "T::new", "    fn new", "    }"),
        ("a.ts", TYPESCRIPT, "A", "export class A", "}"),
        ("a.ts", TYPESCRIPT, "A.load", "  async load", "  }"),
        ("a.ts", TYPESCRIPT, "add", "export const add", "};"),
        ("a.c", C, "helper", "static int", "}"),
        ("a.c", C, "add", "int add", "}"),
        ("J.java", JAVA, "J.toString", "    @Override", "    }"),
        ("a.rb", RUBY, "A.foo", "  def foo", "  end"),
        ("a.lua", LUA, "M.foo", "function M.foo", "end"),
        ("ci.yaml", YAML, "jobs.test", "  test:", "    runs-on: x"),
        ("a.md", MARKDOWN, "set-up", "## Set up", ""),
        ("a.py", PYTHON, "f", "@route(", "    return a"),
        ("a.py", PYTHON, "g", "def g", "def g(): pass"),
        ("a.py", PYTHON, "X", "X = {", "}"),
    ],
)
def test_symbols_of_other_languages(path, source, symbol, first, last):
    found = symbol_text(source, symbol, path)
    lines = found.split("\n")
    assert found in source and lines[0].startswith(first) and lines[-1] == last, found
    for other in (
        "after",
        "fn b",
        "add(1)",
        "void b",
        "bar",
        "build",
        "Next",
        "int add(int a)\n{" if symbol == "helper" else "\0",
    ):
        assert other not in found


def test_what_is_not_defined_has_no_text():
    assert "declared" in symbol_text(C, "declared", "a.c")
    assert symbol_text("call(f)\n", "f", "a.py") == "" and not mentions_symbol("prefix = 1\n", "f", "a.py")


def test_all_definitions_of_a_name_count():
    source = "class A:\n    @property\n    def x(self): return 1\n\n    @x.setter\n    def x(self, v): pass\n"
    rust = symbol_text(RUST, "T", "a.rs")
    assert rust.startswith("#[derive") and "impl<'a>" in rust
    assert "setter" in symbol_text(source, "A.x", "a.py") and "return 1" in symbol_text(source, "A.x", "a.py")


EDITED = {
    "generic parameters on lines of their own": (
        "a.ts",
        "export function pick<\n  T extends { id: string },\n>(items: T[]): T {\n  return items[EDIT];\n}\n\nexport const b = 1\n",
        "pick",
    ),
    "a type of the result in braces": ("a.ts", "function f(): {\n  a: number\n} {\n  return { a: EDIT };\n}\n", "f"),
    "a where clause": (
        "a.rs",
        "pub fn go<T>(t: T) -> u8\nwhere\n    T: Into<u8>,\n{\n    EDIT\n}\n\nfn next() {}\n",
        "go",
    ),
    "a rescue and an ensure": (
        "a.rb",
        "class A\n  def go\n    one\n  rescue E\n    two\n  ensure\n    EDIT\n  end\n\n  def b\n  end\nend\n",
        "A.go",
    ),
    "a text to a word": ("a.rb", "def go\n  x = <<TEXT\nat the margin\nTEXT\n  EDIT\nend\n\ndef b\nend\n", "go"),
    "a body between dollars": (
        "a.sql",
        "CREATE FUNCTION go() RETURNS int\nAS $$\nBEGIN\n  SELECT 1;\nEND;\nRETURN EDIT;\n$$ LANGUAGE plpgsql;\n\nCREATE TABLE t (a int);\n",
        "go",
    ),
    "a type above the name": ("a.c", "EDIT static int\ngo(int a)\n{\n\treturn a;\n}\n", "go"),
    "members before the block": (
        "a.cpp",
        "Page::Page(int id,\n    int n)\n    : id_(id),\n      n_(EDIT) {}\n",
        "Page::Page",
    ),
    "an attribute in brackets": (
        "A.cs",
        "class A {\n    [Route(EDIT)]\n    public int Go()\n    {\n        return 1;\n    }\n}\n",
        "A.Go",
    ),
    "an overload with an annotation": (
        "A.java",
        "class A {\n  int go(int a) {\n    return 1;\n  }\n\n  @Nullable <T> T go(String s) {\n    return EDIT;\n  }\n}\n",
        "A.go",
    ),
    "an extension elsewhere": ("a.swift", "class A {\n}\n\nextension A {\n  func go() { EDIT }\n}\n", "A"),
    "a colon and a base": ("a.kt", "class A(\n  val x: Int,\n) : Base(),\n  Other {\n  fun go() = EDIT\n}\n", "A"),
    "a class in a module's name": ("a.rb", "class Outer::Inner\n  def go\n    EDIT\n  end\nend\n", "Outer::Inner.go"),
    "a decorator above a remark": ("a.py", "@cached(EDIT)\n# why\n\ndef go():\n    pass\n", "go"),
    "a pipe and a guard": ("a.ex", "defmodule A do\n  def go(x)\n      when x > 1 do\n    EDIT\n  end\nend\n", "A.go"),
    "a function of PHP": (
        "a.php",
        "<?php\nclass A\n{\n    public function go(): int\n    {\n        return EDIT;\n    }\n}\n",
        "A.go",
    ),
    "a trait of Scala": (
        "a.scala",
        "trait A {\n  def go(x: Int)(\n      y: Int\n  ): Int = {\n    EDIT\n  }\n}\n",
        "A.go",
    ),
    "a method of Dart": ("a.dart", "class A {\n  Future<int> go(int a) async {\n    return EDIT;\n  }\n}\n", "A.go"),
    "a function of a shell": ("a.sh", "go() {\n  cat <<EOF\ntext\nEOF\n  EDIT\n}\n\nother() {\n  :\n}\n", "go"),
    "a subroutine of Perl": ("a.pm", "sub go {\n    my $x = shift;\n    return EDIT;\n}\n\nsub b { 1 }\n", "go"),
    "a receiver of Go": (
        "a.go",
        "func (s *S[T]) Go(\n\ta int,\n) (x int, err error) {\n\treturn EDIT, nil\n}\n",
        "S.Go",
    ),
    "a function of R": ("a.R", "go <- function(x,\n                y) {\n  EDIT\n}\n\nother <- function() 1\n", "go"),
}


@pytest.mark.parametrize("case", EDITED)
def test_an_edit_of_a_symbol_is_in_its_text(case):
    path, source, symbol = EDITED[case]
    found = symbol_text(source, symbol, path)
    whole_file_counts = not found and mentions_symbol(source, symbol, path)
    assert whole_file_counts or "EDIT" in found, found


def test_what_follows_a_symbol_is_not_in_its_text():
    followed = [
        case for case in EDITED if "next" in EDITED[case][1] or "other" in EDITED[case][1] or "def b" in EDITED[case][1]
    ]
    for path, source, symbol in map(EDITED.get, followed):
        found = symbol_text(source, symbol, path)
        assert not any(word in found for word in ("next", "other", "def b")), found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "# gizmo was here\nx = 1  # gizmo\n"),
        ("a.ts", "/* the gizmo\n * gizmo\n */\nlet x // gizmo\n"),
        ("a.sql", "-- gizmo\nSELECT 1;\n"),
    ],
)
def test_a_remark_is_no_mention(path, source):
    assert not mentions_symbol(source, "gizmo", path) and mentions_symbol(source + "gizmo()\n", "gizmo", path)


def test_an_example_in_a_text_is_no_definition():
    source = 'def go():\n    """Show it:\n\ndef go():\n    old\n    """\n    return 1\n'
    assert symbol_text(source, "go", "a.py") == source.rstrip()


LONG = 490_000  # characters: just below the limit of a search


@pytest.mark.time
@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("x " * (LONG // 2), "a.py"),
        ("x( " * (LONG // 3), "a.c"),
        ("def x\n" * (LONG // 6), "a.py"),
        ("int x(\n" * (LONG // 7), "a.c"),
        ("function x(){\n" * (LONG // 14), "a.js"),
        ("function x(\n" + "/(" * (LONG // 2), "a.js"),
        ("def x(\n" + "\\'" * (LONG // 2), "a.py"),
        ("a." * (LONG // 2) + "x()", "a.c"),
        (("a." * 500 + "x( ") * (LONG // 1000), "a.c"),
        ("\n" * (LONG // 2) + "def x\n\n" * (LONG // 14), "a.py"),
    ],
)
def test_no_file_keeps_a_hook_waiting(tmp_path, source, path):
    """Minified code, or what somebody wrote for that: the whole file counts, or what is cited further is not read."""
    (tmp_path / path).write_text(source)
    looking = CitationChecks(Layout(str(tmp_path / ".rawko")))
    before = time.process_time()
    found = looking.of({"cites": [f"{path}#{'x.' * n}x" for n in range(20)]})
    assert time.process_time() - before < 3, "this took hours"
    assert len(found) == 20


@pytest.mark.parametrize("limit", ["MAX_TEXT_LENGTH", "MAX_OCCURRENCES"])
def test_a_symbol_that_takes_too_long_is_cited_with_its_whole_file(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(citations, limit, 400)
    (tmp_path / "a.py").write_text("def x\n" * 500)
    cited = CitationChecks(Layout(str(tmp_path / ".rawko"))).now(read_citation("a.py#x"))
    assert cited.citation.blob == blob_id(b"def x\n" * 500)[:12] and cited.note
    with pytest.raises(TooLong):
        symbol_text("def x\n" * 500, "x", "a.py")
