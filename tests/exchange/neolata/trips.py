"""One store of neolata through a repository and back."""

import json
from pathlib import Path

from rawkomem.files.installation import plan_start, write_start
from rawkomem.model.filters import Filter
from rawkomem.repository import Repository

EVERYTHING = Filter()


def open_in(folder: Path) -> Repository:
    write_start(plan_start(str(folder)))
    return Repository.open(str(folder), store="memory")


def there_and_back(folder: Path, work: Path) -> Path:
    """Import a store, let all of it in, and export it; return the folder of the export."""
    work.mkdir()
    repository = open_in(work)
    try:
        repository.exchange.import_from(str(folder))
        repository.beliefs.review_all("neolata", "activate")
        out = work.parent / f"{work.name}-out"
        repository.exchange.export_folder(str(out), "neolata", EVERYTHING)
    finally:
        repository.close()
    return out


def items_in(folder: Path) -> dict[str, dict[str, dict]]:
    """Return file → id → item, without vectors, which are computed again."""
    found = {}
    for name in ("graph", "archived", "episodes", "pending-conflicts", "clusters"):
        file = folder / f"{name}.json"
        items = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        found[name] = {one["id"]: {key: said for key, said in one.items() if key != "embedding"} for one in items}
    return found
