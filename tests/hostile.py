"""Write repositories that are small to ship and made to cost much: one function for each of them."""

from pathlib import Path

HEAD = "---\ntitle: {title}\nid: {id}\nwhenToUse: [{when}]\nimportance: high\n---\n"
# A regex that is nearly as expensive as one may be, and one that is too expensive to be compiled at all.
REGEX = "'(?:{n}|[a-z]{{1,60}}[0-9]{{1,60}}[a-z\\d]{{1,60}}){{1,2}}'"
LARGE_REGEX = "'(?:{n}|[a-z]{{1,60}}[0-9]{{1,60}}\\pL{{1,40}}){{1,3}}'"


def entry(id: str, body: str = "Deploy the service with care.\n", when: str = "deploy", title: str = "") -> str:
    """Return one entry as text."""
    return HEAD.format(title=title or f"Memory {id}", id=id, when=when) + body


def write(memories: Path, name: str, text: str) -> None:
    """Write one memory file."""
    file = memories / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def expensive_regexes(memories: Path, files: int = 200) -> None:
    """Write 32 expensive regexes into each file."""
    for file in range(files):
        when = ", ".join(REGEX.format(n=f"x{file}y{number}") for number in range(32))
        write(memories, f"regex-{file:03}", entry(f"regex-{file}", when=when))


def large_file(memories: Path, size: int = 5 * 2**20 - 200) -> None:
    """Write one memory of nearly 5 MiB."""
    line = "The deploy step reads each host name from the inventory and retries the request twice before it fails.\n"
    write(memories, "large", entry("large", line * (size // len(line))))


def tiny_files(memories: Path, files: int = 100_000) -> None:
    """Write as many files as an archive of some megabytes can hold."""
    for file in range(files):
        write(memories, f"{file // 1000:03}/t{file}", f"---\ntitle: T {file}\n---\nx\n")


def many_conditions(memories: Path, files: int = 400) -> None:
    """Write 32 plain conditions with many alternatives into each file."""
    for file in range(files):
        when = ", ".join("'" + "|".join(f"w{file}a{number}b{k}" for k in range(20)) + "'" for number in range(32))
        write(memories, f"when-{file:03}", entry(f"when-{file}", when=when))


def deep_nesting(memories: Path, files: int = 100) -> None:
    """Write values and quotes and lists that are nested as deep as the size allows."""
    for file in range(files):
        write(memories, f"nested-{file:03}", f"---\ntitle: N {file}\nx: {'[' * 30_000}{']' * 30_000}\n---\nx\n")
        body = ">" * 20_000 + " quote\n" + "".join(" " * depth + "- item\n" for depth in range(200))
        write(memories, f"quoted-{file:03}", entry(f"quoted-{file}", body))


def large_frontmatters(memories: Path, files: int = 200) -> None:
    """Write nearly 64 KiB of frontmatter into each file."""
    for file in range(files):
        more = "".join(f"key{number}: value {number}\n" for number in range(3_000))[:63_000].rpartition("\n")[0]
        write(memories, f"front-{file:03}", f"---\ntitle: F {file}\nid: front-{file}\n{more}\n---\nx\n")


def many_entries(memories: Path, entries: int = 50_000) -> None:
    """Write one file with many entries, each its own memory."""
    write(memories, "many", "\n---\n\n".join(f"---\ntitle: M {n}\nid: m{n}\n---\nbody {n}\n" for n in range(entries)))


def many_votes(memories: Path, votes: int = 50_000, files: int = 15) -> None:
    """Write one memory with many entries about it."""
    write(memories, "voted", entry("voted"))
    for file in range(files):
        said = (
            f"---\nkind: feedback\nid: v{file}-{n}\nabout: voted\nat: 2026-01-01T00:00:{n % 60:02}Z\nvote: helpful\n---\n"
            for n in range(votes // files)
        )
        write(memories, f"votes-{file:02}", "\n---\n\n".join(said))


def many_links(memories: Path, links: int = 10_000) -> None:
    """Write one memory with many entries that link it."""
    write(memories, "linked", entry("linked"))
    said = (f"---\nkind: link\nid: l{n}\nabout: linked\nat: 2026-01-01\nto: m{n}\n---\n" for n in range(links))
    write(memories, "links", "\n---\n\n".join(said))


def long_lines(memories: Path, files: int = 5) -> None:
    """Write megabyte-long lines: of words, of one word, of brackets, of backticks."""
    for file in range(files):
        write(memories, f"words-{file}", entry(f"words-{file}", "deploy the host " * 60_000))
        write(memories, f"letters-{file}", entry(f"letters-{file}", "a" * 1_000_000))
        write(memories, f"links-{file}", entry(f"links-{file}", "[[" * 250_000 + "](" * 250_000))
        write(memories, f"ticks-{file}", entry(f"ticks-{file}", "`" * 500_000 + "x" + "*_" * 250_000))


ALL = {
    make.__name__: make
    for make in (
        expensive_regexes, large_file, tiny_files, many_conditions, deep_nesting, large_frontmatters, many_entries,
        many_votes, many_links, long_lines,
    )
}  # fmt: skip
