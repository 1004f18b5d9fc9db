"""Commands in shell lines, and the patterns that fit them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rawkomem.text.acts import Act, Applies, fits, marks_of
from rawkomem.text.commands import MAX_WRITE_CHARS, MAX_WRITES, file_writes, fits_command, simple_commands
from rawkomem.text.paths import ANY_FILE

from tests.cpu import cpu_seconds

GUARDS = json.loads((Path(__file__).parents[1] / "data/guards.json").read_text(encoding="utf-8"))

MESSAGE = """git commit -m "$(cat <<'EOF'
Run pytest; rm -rf build && `git push --force` it's
EOF
)" """
SCRIPT = """set -e
# pytest is not run
cat > notes.md <<-'END' && make lint
\tpytest -q
\tEND
if [ -f x ]; then
  rm -rf \\
    build
elif ! tox; then :
fi
while read -r name; do npm ci; done < names
case "$1" in test|check) go test ./... ;; *) ls ;; esac
"""


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("", []),
        ("  # pytest", []),
        ("pytest", ["pytest"]),
        (".venv/bin/pytest -q 'a b'", ["pytest|-q|a b"]),
        ("cd api && FOO=1 BAR='x y' pytest -q | tail -5; ls || true & pwd", ["cd|api", "pytest|-q", "tail|-5", "ls", "true", "pwd"]),
        ("pytest > out.txt 2>&1 < /dev/null &>> all", ["pytest"]),
        ("echo \"a \\\"b\\\" $HOME \\d\" 'c'\\ d $'it\\'s'", ["echo|a \"b\" $HOME \\d|c d|it\\'s"]),
        ("A=1", []),
        ("list=(pytest -q) ls", ["ls"]),
        ("x=$(pytest) y=`tox`", ["pytest", "tox"]),
        ('echo "$(cd a; pytest "$(ls)")"', ["echo|$()", "ls", "cd|a", "pytest|$()"]),
        ("diff <(pytest a) <(ls)", ["diff|<()|<()", "pytest|a", "ls"]),
        ("(cd a && pytest) | tail", ["cd|a", "pytest", "tail"]),
        ("test() { pytest; }; test", ["pytest", "test"]),
        ("function test { pytest; }", ["pytest"]),
        ("for f in pytest tox; do ls $f; done", ["ls|$f"]),
        ("[[ -f a && pytest ]] && ls", ["ls"]),
        ("echo $((1 << 2)) ${a:-b c} $#", ["echo|$((1 << 2))|${a:-b c}|$#"]),
        (SCRIPT, ["set|-e", "cat", "make|lint", "[|-f|x|]", "rm|-rf|build", "tox", ":", "read|-r|name", "npm|ci", "go|test|./...", "ls"]),
        (MESSAGE, ["git|commit|-m|$()", "cat"]),
        ("cat <<A <<B\npytest\nA\ntox\nB\nls", ["cat", "ls"]),
        ("cat <<EOF\npytest", ["cat"]),
        ("bash <<EOF\npytest\nEOF\nls", ["pytest", "ls"]),
        ("bash -s <<< 'pytest -q'", ["pytest|-q"]),
        ("ssh host <<EOF\npytest\nEOF", ["pytest"]),
        ("bash -c 'cd a && pytest' x", ["cd|a", "pytest"]),
        ("sh -lc pytest", ["pytest"]),
        ("/bin/bash -euo pipefail -c \"sudo sh -c 'pytest -q'\"", ["pytest|-q"]),
        ("bash bin/test.sh -x", ["bash|bin/test.sh|-x"]),
        ("eval 'pytest' -q", ["pytest|-q"]),
        ("find . -name '*.py' -exec rm -f {} + -o -execdir ls \\;", ["rm|-f|{}", "ls"]),
        ("find . | xargs -0 -n 1 -I{} rm -f {}", ["find|.", "rm|-f|{}"]),
        ("ls | xargs", ["ls", "xargs"]),
        ("sudo -u me -E A=1 pytest", ["pytest"]),
        ("env -i A=1 B=2 time nice -n 5 nohup timeout -k 5 60 pytest -q", ["pytest|-q"]),
        ("command -v pytest", ["command|-v|pytest"]),
        ("npx --yes jest@29 -w", ["jest|-w"]),
        ("npx", ["npx"]),
        ("pnpm --filter web exec jest && pnpm vitest && bunx jest && yarn jest -w", ["jest", "vitest", "jest", "jest|-w"]),
        ("yarn add jest && pnpm install && yarn", ["yarn|add|jest", "pnpm|install", "yarn"]),
        ("uv run --with x -- pytest && poetry run pytest && pipenv run pytest && hatch run pytest", ["pytest"] * 4),
        ("uv run -m pytest && uv pip install x", ["pytest", "uv|pip|install|x"]),
        ("python3.11 -W error -m pytest -q", ["pytest|-q"]),
        ("python -m coverage run --source a -m pytest", ["pytest"]),
        ("python3 manage.py test -m x", ["python|manage.py|test|-m|x"]),
        ("docker compose -f a.yml exec -T -e A=1 web pytest -q", ["pytest|-q"]),
        ("docker-compose exec web sh -c pytest", ["pytest"]),
        ("docker exec -it web pytest", ["pytest"]),
        ("docker run --rm -v a:b image:1 pytest", ["pytest"]),
        ("docker compose up -d", ["docker|compose|up|-d"]),
        ("kubectl exec -n a pod -- pytest", ["pytest"]),
        ("ssh -p 22 me@host 'cd a && pytest' -q", ["cd|a", "pytest|-q"]),
        ("echo it's", ["echo|its"]),
        ("bin/pytest 'open", ["pytest|open"]),
        ("pytest $(ls", ["pytest", "ls"]),
        ("pytest >", ["pytest"]),
        ("sudo env " * 50 + "pytest", ["pytest"]),  # nested too deeply
        ("ls " + "$(" * 50 + "pytest" + ")" * 50, ["ls", "pytest"]),
    ],
)  # fmt: skip
def test_the_commands_of_a_line(line, commands):
    assert ["|".join(words) for words in simple_commands(line)] == commands


FITTING = {
    "pytest*": [
        "pytest",
        "pytest -q tests",
        "cd api && pytest -q",
        "FOO=1 pytest",
        "uv run pytest",
        "python -m pytest",
        "bash -c 'pytest'",
        "git stash; time pytest | tee log",
        "make lint || ./venv/bin/pytest",
        "echo $(pytest)",
        "pytest 'not closed",
        "time (pytest -q)",
        "if ! pytest -q; then echo failed; fi",
        'f() { pytest "$@"; }; f',
        "echo done && exec pytest",
        "git ls-files '*_test.py' | xargs -n 10 pytest",
        "docker run --rm -v \"$PWD\":/app -w /app python:3.12 pytest -q",
        "nohup pytest > out.log 2>&1 &",
        "mise exec -- pytest",
        "mise x python@3.12 -- pytest -q",
        "direnv exec . pytest",
        "op run --env-file .env -- pytest",
        "doppler run --project a --config b -- pytest",
        "C:\\Python311\\Scripts\\pytest.exe -q",
        "cd api; .\\venv\\Scripts\\pytest.exe -q",
    ],
    "psql*": [
        "echo \"$(psql -c 'select 1')\"",
        "diff <(psql -c a) <(psql -c b)",
        "sudo -u postgres psql",
        "su postgres -c 'psql -f x.sql'",
        "su - postgres -c 'cd /tmp; psql -f x.sql'",
        "su -c 'psql -f x.sql' postgres",
        "kubectl exec -it pod -- psql -U app",
    ],
    "eslint*--fix*": [
        "pnpm exec eslint . --fix",
        "yarn eslint --fix src",
        "yarn run eslint --fix src",
        "bun run eslint --fix .",
        "npx -p eslint eslint --fix x",
        "npm exec eslint -- --fix .",
    ],
    "terraform apply*": ["ssh me@host 'cd /srv && terraform apply -auto-approve'", "terraform -chdir=infra apply"],
    "pytest": ["pytest", "pytest -q"],
    "git commit --no-verify*": [
        "git commit --no-verify",
        "git commit -m x --no-verify",
        "git -C dir commit --no-verify -m 'x y'",
        "git -c user.name=x --no-pager commit -m x --no-verify",
        "git commit -n -m x",
        "git commit -anm x",
        MESSAGE + "--no-verify",
    ],
    "git add .": ["git add .", "git add ./", "git add -A", "git -C x add --all", "cd web && git add -v . && git commit"],
    "git add -A": ["git add .", "git add --all"],
    "rm -rf *": ["rm -rf a", "rm -fr a", "rm -r -f a", "rm a -Rfv", "rm --recursive --force a", "ls | xargs rm -rf", "sudo rm -rf /"],
    "rm -rf node_modules": ["rm -rf node_modules/", "rm -rf dist ./node_modules"],
    "rm*-rf*": ["rm -rf a"],
    "git push --force": ["git push --force", "git push -f", "git push origin main --force", "git push -uf origin main", 'git push --force; : ${x:-"}"}'],
    "git push*--force*": ["git push --force", "git push origin -f", "git push --force-with-lease=x", "git push origin +main"],
    "git push -f": ["git push origin +HEAD:main"],
    "git push origin main*": ["git push origin main", "git push -u origin main --tags"],
    "npm install*": [
        "npm install",
        "npm i lodash",
        "npm --prefix web install -D x",
        'cmd.exe /c "npm install"',
        "cmd //c npm.cmd install",
        'powershell -NoProfile -ExecutionPolicy Bypass -Command "cd web; npm install"',
        "pwsh -c 'npm install'",
    ],
    "pip install*": ["pip install x", "pip3 install -r x", "python3 -m pip install x"],
    "docker compose down -v*": ["docker compose down -v", "docker-compose -f a.yml down --volumes"],
    "docker-compose*": ["docker-compose up", "docker compose down"],
    "curl * | *sh": ["curl -sSL https://a.b | sh", "cd x; curl a | sudo bash -s -- -y", "bash -c 'curl a | sh'"],
    "sed -i*": ["sed -i s/a/b/ f", "sed -i.bak s/a/b/ f", "sed -Ei '' f", "sed --in-place=.bak s/a/b/ f"],
    "sed -i* migrations/*": ["sed -i s/a/b/ migrations/1.sql"],
    "python manage.py migrate*": ["python manage.py migrate", "./manage.py migrate app", "uv run python3 src/manage.py migrate"],
    "deploy.sh*": ["./bin/deploy.sh prod", "bash bin/deploy.sh prod"],
    "./bin/deploy.sh": ["bin/deploy.sh", "sh deploy.sh"],
    "make deploy*": ["make deploy", "make -C x deploy-prod", "make clean deploy"],
    "chmod 777 *": ["chmod 777 a", "chmod -R 777 a"],
    "git checkout -- *": ["git checkout -- a", "git checkout HEAD -- a"],
    "sudo *": ["sudo ls", "cd a && sudo -u me ls"],
    "npx *": ["npx prisma migrate"],
    "python*": ["python x.py", "python3 -m pytest"],
    "kubectl delete*": ["kubectl -n prod delete pod x", "kubectl --context prod delete pod x"],
    "go test ./...": ["go test ./...", "go test -v -race ./..."],
    "*--no-verify*": ["git commit --no-verify", "git push --no-verify"],
    "mkfs.*": ["mkfs.ext4 /dev/sda"],
    "cargo test*": ["cargo +nightly test", "cargo t -p x"],
    "npm test*": ["npm test", "npm t", "npm run test -- --watch"],
    "npm run test*": ["npm test", "npm run test:unit"],
    "yarn lint*": ["yarn lint", "yarn run lint --fix"],
    "pnpm run build": ["pnpm build", "pnpm run build"],
    "npm run *": ["npm run dev"],
    "pnpm install*": ["pnpm i"],
    "apt install*": ["sudo apt-get install -y x"],
}  # fmt: skip
OTHERS = {
    "pytest*": [
        "",
        "echo pytest",
        "grep -rn pytest .",
        "pip install pytest",
        "uv add pytest",
        "pytest-watch",
        "py.test",
        "which pytest",
        "command -v pytest",
        "cat pytest.ini",
        "cd pytest && ls",
        "ls # pytest",
        "git commit -m 'run pytest'",
        "git commit -m \"run; pytest\"",
        MESSAGE,
        "cat <<EOF\npytest\nEOF",
        "python - <<EOF\npytest\nEOF",
        "for x in pytest; do echo $x; done",
        "PYTEST=pytest make",
        "alias t='pytest -q'",
        'tee notes.md <<< "pytest -q"',
        'python -c "import pytest; pytest.main()"',
        'gh pr create --body "run pytest"',
        "su pytest",
        "mise use pytest",
        "mise exec pytest@8 -- make lint",
        "powershell -File x.ps1 pytest",
        "ls 'pytest",
    ],
    "git commit --no-verify*": ["git commit -m --no-verification", "git commit -m 'no --no-verify'", "git push --no-verify", "git log --grep commit -n 5", "git commit -m x"],
    "git add .": ["git add .gitignore", "git add -p", "git add a.py ./b.py", "ls . && git add a"],
    "rm -rf *": ["rm -r a", "rm -f a", "git rm -rf a", "rmdir a", "grep -rf a b", "rm -r 'not closed"],
    "rm -rf node_modules": ["rm -rf dist"],
    "git push --force": ["git push", "git push --force-with-lease", "git fetch --force"],
    "git push origin main*": ["git push origin dev", "git pull origin main"],
    "git stash*": ["git --no-pager diff stash@{0}", "git log stash"],
    "terraform apply*": ["terraform plan -out apply", "grep -rn 'terraform apply' ."],
    "eslint*--fix*": ["npm run lint -- --fix", "yarn run lint --fix", "eslint src"],
    "npm install*": ["pnpm install", "npm run install-hooks", "npm ci"],
    "pip install*": ["uv pip install x", "pip list", "pipx install x"],
    "docker compose down -v*": ["docker compose down", "docker run -v a:b x"],
    "curl * | *sh": ["curl a | jq .", "curl a && sh b", "curl a > b; sh b", "cat a | sh"],
    "sed -i*": ["sed -n 1,5p f", "sed s/-i/x/ f"],
    "sed -i* migrations/*": ["sed -i s/a/b/ src/1.sql"],
    "python manage.py migrate*": ["python manage.py test", "python manage.py makemigrations"],
    "make deploy*": ["make test", "make -n build"],
    "chmod 777 *": ["chmod +x a", "chmod 755 a"],
    "cat *": ["cat > a <<EOF\nx\nEOF", "ls | cat"],
    "git checkout -- *": ["git checkout main"],
    "go test ./...": ["go test ./pkg"],
    "cargo test*": ["cargo +nightly build"],
    "npm run *": ["npm install", "npm test"],
    "npm publish*": ["npm run publish-docs"],
    "": ["ls"],
    "'": ["ls", "'"],
    "# x": ["ls"],
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "line"), [(pattern, line) for pattern, lines in FITTING.items() for line in lines])
def test_a_pattern_fits(pattern, line):
    assert fits_command(pattern, line)
    applies = Applies(commands=(pattern,))
    assert fits(applies, Act(line)) and any(mark in line.lower() for mark in marks_of(applies))


@pytest.mark.parametrize(("pattern", "line"), [(pattern, line) for pattern, lines in OTHERS.items() for line in lines])
def test_a_pattern_does_not_fit(pattern, line):
    assert not fits_command(pattern, line)


@pytest.mark.parametrize("guard", [guard["pattern"] for guard in GUARDS])
def test_every_guard_fits_itself_and_nothing_harmless(guard):
    line = guard.replace("*sh", "bash").replace("*", " a ")
    assert fits_command(guard, line) and fits_command(guard, f"cd x && sudo {line.replace('| ', '| env ')}")
    assert not fits_command(guard, f"echo '{line}'") and not fits_command(guard, "ls -la; cd x; git status")


WRITES = {
    "echo x > db/a.sql": "db/a.sql",
    "echo x >> db/a 2>&1 2>/dev/null": "db/a /dev/null",
    "> a; ls &> b; for x in y; do echo; done > c": "b a c",
    "cat x | sudo tee -a a b <<< text": "a b",
    "cat <<E > a\nx > y\nE": "a",
    "sed -i.bak 's/x/y/' a b; sed -ne p -i c; perl -pi -e s/x/y/ d": "a b c d",
    "sed -i '' -e s/x/y/ a": "a",
    "rm -rf a ./b; git rm --cached c; git -C x mv d e": "a ./b c x/d x/e",
    "touch -d now a; truncate -s 0 b; dd if=x of=c; unlink d": "a b c d",
    "mv x a": "x a",
    "cp x a; cp -r x y/z b/; ln -s x folder; install -m 644 x c": "a b/x b/z b/ folder/x folder c",
    "cd x && rm a; (cd y && rm b) > c; cd -; rm d": "x/a x/y/b d x/c",
    "cd /x; rm a ~/b; cd; rm c": "/x/a ~/b ~/c",
    "bash -c 'cd x; rm a'; find y -exec touch b {} +; echo $(rm c)": "x/a b {} c",
    # these only read, or write nothing that they name
    "cat a; grep -i x a; sed -n p a; perl -Ilib a; head < a; echo '> a' 'rm a'": "",
    "ssh x rm a; docker run x touch a; git status; git log -- rm a; git": "",
    "[[ a > b ]]; echo $((3 > 2)) 2>&-; cp a; rm": "",
    # copies into a folder that an option names, and programs that run in one
    "cp -t x a; cp -at x b; cp --target-directory=x c; cp --target-directory x d": "x/a x x/b x/c x/d",
    "mv --target-directory=x a; install -D -m 644 -t x b; ln -st x ../c": "x/a a x x/b x/c",
    "git -c a=b -C x rm a; git -C . -C x mv b c": "x/a ./x/b ./x/c",
    "env -C x rm a; sudo --chdir=x -u b touch c; cd y && env -C z A=1 rm d": "x/a x/c y/z/d",
    "cd x && ln -sf /y/a": "x/./a x/.",
    "ls | xargs -I{} cp {} a; ls | xargs rm b": "a b {}",
    # a line that this module cannot parse
    'rm x/a; : ${x:-"}"}': "x/a",
    ': ${x:-"}"}; cd x && sudo rm "a" > b 2>>c | tee d': "x/b x/c x/a x/d",
    "rm 'a": "a",
    "sudo " * 30 + "rm a; rm b": "a b",
}


@pytest.mark.parametrize(("line", "files"), WRITES.items())
def test_the_files_that_a_line_writes(line, files):
    assert [*file_writes(line, "folder".__eq__)] == files.split()


@pytest.mark.parametrize(
    "line",
    [
        "rm " + " ".join(map(str, range(MAX_WRITES + 1))),
        "rm " + "a/" * MAX_WRITE_CHARS,
        "cd a;" * MAX_WRITE_CHARS + "rm b",
        "cd a;" * MAX_WRITE_CHARS + "cd ..; rm b",
    ],
    ids=["files", "path", "folder", "folder above"],
)
def test_what_cannot_be_compared_is_a_write_of_any_file(line):
    assert [*file_writes(line, bool)][-1] == ANY_FILE
    assert ANY_FILE not in [*file_writes(line + "; cd /; cd a", bool)][:-1]


def test_folders_above_make_no_path_longer():
    assert [*file_writes("cd a; cd ..;" * MAX_WRITE_CHARS + "cd b; rm c", bool)] == ["b/c"]


def test_the_words_are_the_callers():
    simple_commands("ls -l")[0].append("x")
    assert simple_commands("ls -l") == [["ls", "-l"]]


SHELL = st.lists(
    st.sampled_from(
        ["'", '"', "\\", "`", "$(", "$((", "${", "}", "(", ")", "<<E", "\nE\n", "\n", "<(", "|", "&&", ";", "#", "*", "-r", "",
         "[[", "]]", "bash", "-c", "eval", "sudo", "find", "-exec", "+", "a=", "for", "in", "case", "python", "-m", "ssh", "xargs"]
    )
).map(" ".join)  # fmt: skip


@given(st.one_of(st.text(), SHELL, SHELL.map(lambda line: line.replace(" ", ""))), st.one_of(st.text(), SHELL))
def test_no_line_and_no_pattern_fails(line, pattern):
    assert all(words for words in simple_commands(line))
    assert fits_command(pattern, line) in (True, False)
    assert all(file_writes(line, bool))


@pytest.mark.time
@pytest.mark.parametrize(
    "piece",
    ["$(", "$(a)", "$((", "${", "${a", "`", "`a`", "'", '"', '"$(', "\\", "(", ")", "((", "[[ ", "[[ a ]] ", "<(", "#", "a ", "1",
     "sudo ", "eval ", "bash -c ", "env a=", "xargs ", "ssh a ", "find -exec a ", "-exec a ; ", "a=", "a;", "a|", "\n", "<<E ", "<<E\n",
     "<<E\nE\n", "<<<a ", "$'", "-rf ", "case a in ", "a) b;;", "{ ", "f() { "],
)  # fmt: skip
def test_the_time_grows_with_the_length(piece):
    def seconds(start, size):
        return cpu_seconds(lambda: fits_command("a* b -r | *c", start + piece * (size // len(piece))))

    for start in ("", "find . ", "cat <<EOF\n"):
        large = seconds(start, 50_000)
        assert large < 0.05 or large < 40 * min(seconds(start, size) for size in (3_100, 3_125, 3_150)), start
