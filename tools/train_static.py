"""Train the bundled token vectors from a sentence-transformers model, or measure trained vectors.

    python tools/train_static.py train --teacher all-MiniLM-L6-v2 --texts train-text.xz --out static-384.npz
    python tools/train_static.py evaluate static-384.npz --vocab vocab.txt --data eval/

The student's vector of a text is the sum of its tokens' rows. The student learns to match the direction of the
teacher's vector, and to have the same neighbors among the other texts of its batch. Training needs a GPU (minutes) and
sentence-transformers; measuring needs only numpy and uses the bundled embedder's code.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(
    0, str(Path(__file__).resolve().parents[1])
)  # run from a checkout, installed or not

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

Floats = NDArray[np.float32]

SPANS = 2  # random spans taken from each text, because queries are fragments
SPAN_WORDS = (2, 14)
BAG_WORDS = (2, 5)  # rare words without order, as people type into a search box
SALIENT_WORDS = 12  # a bag is drawn from this many of a text's rarest words
MAX_TOKENS = 254  # all-MiniLM-L6-v2 reads 256, including two special tokens
SIF = 1e-3  # Arora et al. 2017: weight a / (a + p(token)) damps frequent tokens
TEMPERATURE = 0.05  # of the distributions of neighbors; 0.03 was no better
LEARNING_RATE = 3e-3
BATCH = 8_192  # texts; also the number of neighbors that each text is compared with
EPOCHS = 6


def main() -> None:
    """Read the arguments and train or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = parser.add_subparsers(required=True)
    mode = modes.add_parser(
        "train", help="texts and a teacher → an npz with i8 and scale"
    )
    mode.add_argument(
        "--teacher",
        required=True,
        help="name or folder of a sentence-transformers model",
    )
    mode.add_argument(
        "--texts", type=Path, required=True, help="one text per line, plain or .xz"
    )
    mode.add_argument("--out", type=Path, required=True)
    mode.add_argument("--epochs", type=int, default=EPOCHS)
    mode.add_argument("--batch", type=int, default=BATCH)
    mode.add_argument(
        "--limit",
        type=int,
        default=0,
        help="use only this many texts, from the start of the file",
    )
    mode.add_argument("--seed", type=int, default=1)
    mode.set_defaults(call=train)
    mode = modes.add_parser(
        "evaluate", help="print recall of the vectors alone on the evaluation sets"
    )
    mode.add_argument("vectors", type=Path)
    mode.add_argument("--vocab", type=Path, required=True)
    mode.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder of metatool.json, clinc.json, locomo.json …",
    )
    mode.set_defaults(call=evaluate)
    given = parser.parse_args()
    given.call(given)


# --- texts -----------------------------------------------------------------------------------------------------------


def training_items(texts: list[str], seed: int) -> list[str]:
    """Return the texts and, from each, a sentence, spans and a bag of rare words, without duplicates."""
    rng = random.Random(seed)
    rarity = word_rarity(texts)
    items = dict.fromkeys(texts)
    for text in texts:
        items.update(dict.fromkeys(derived(text, rarity, rng)))
    return [item for item in items if item]


def derived(text: str, rarity: dict[str, float], rng: random.Random) -> Iterator[str]:
    """Yield shorter items from a text: a sentence, spans and a bag of rare words."""
    sentences = [
        part for part in re.split(r"(?<=[.!?])\s+", text) if part.count(" ") >= 2
    ]
    if sentences:
        yield rng.choice(sentences)
    words = text.split()
    for _ in range(SPANS):
        length = rng.randint(*SPAN_WORDS)
        start = rng.randint(0, max(0, len(words) - length))
        yield " ".join(words[start : start + length])
    salient = sorted(set(plain_words(text)), key=lambda word: (-rarity[word], word))[
        :SALIENT_WORDS
    ]
    yield " ".join(rng.sample(salient, min(len(salient), rng.randint(*BAG_WORDS))))


def plain_words(text: str) -> list[str]:
    """Return the words of three letters or more, in lower case."""
    return re.findall(r"[^\W\d_]{3,}", text.lower())


def word_rarity(texts: list[str]) -> dict[str, float]:
    """Return word → inverse document frequency; 0 for a word in one text only, which is a typo or an unusual name."""
    seen = Counter(word for text in texts for word in set(plain_words(text)))
    return {
        word: math.log(len(texts) / count) if count > 1 else 0.0
        for word, count in seen.items()
    }


def read_texts(path: Path, limit: int) -> list[str]:
    """Return the lines of a file, at most `limit` unless 0."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        texts = [line.strip() for line in file]
    return texts[:limit] if limit else texts


# --- training --------------------------------------------------------------------------------------------------------


def train(given: argparse.Namespace) -> None:
    """Train the rows on the teacher's vectors and write them as int8."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.manual_seed(given.seed)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    say = Progress()
    items = training_items(read_texts(given.texts, given.limit), given.seed)
    say(f"{len(items):,} items")
    teacher = SentenceTransformer(given.teacher, device=device)
    if device == "cuda":
        teacher.half()
    bags = Bags(token_ids(teacher.tokenizer.backend_tokenizer, items), device)
    say(f"{len(bags.flat):,} tokens")
    targets = teach(teacher, items)
    say("teacher vectors")
    rows = torch.nn.Parameter(initial_rows(teacher, bags).to(device))
    say("initial rows")
    fit(rows, bags, targets.to(device), given.epochs, given.batch, say)
    save(given.out, rows.detach().cpu().numpy())
    say(f"wrote {given.out}")


class Progress:
    """Prints a line with the seconds since the start."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, what: str) -> None:
        print(f"{time.monotonic() - self._start:7.1f} s  {what}", flush=True)


def token_ids(tokenizer: Any, items: list[str]) -> list[list[int]]:
    """Return the token ids of each item, without special tokens."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids: list[list[int]] = []
    for start in range(0, len(items), 50_000):  # limits the memory for encodings
        encodings = tokenizer.encode_batch_fast(
            items[start : start + 50_000], add_special_tokens=False
        )
        ids += [encoding.ids[:MAX_TOKENS] for encoding in encodings]
    return ids


class Bags:
    """Holds all items' tokens in one tensor, from which batches are cut on the device."""

    def __init__(self, ids: list[list[int]], device: str):
        import torch

        self.sizes = torch.tensor([len(each) for each in ids], device=device)
        self.starts = self.sizes.cumsum(0) - self.sizes
        self.flat = torch.from_numpy(
            np.fromiter((token for each in ids for token in each), np.int64)
        ).to(device)

    def sum(self, rows: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Return the normalized sum of the rows of each chosen item."""
        import torch
        from torch.nn import functional as F

        sizes = self.sizes[chosen]
        offsets = sizes.cumsum(0) - sizes
        within = torch.arange(
            int(sizes.sum()), device=sizes.device
        ) - offsets.repeat_interleave(sizes)
        tokens = self.flat[self.starts[chosen].repeat_interleave(sizes) + within]
        return F.normalize(F.embedding_bag(tokens, rows, offsets, mode="sum"), dim=1)


def teach(teacher: Any, items: Sequence[str]) -> torch.Tensor:
    """Return the teacher's normalized vectors."""
    import torch

    with torch.inference_mode():
        vectors = teacher.encode(
            items,
            batch_size=2048,
            normalize_embeddings=True,
            convert_to_tensor=True,
            show_progress_bar=False,
        )
    return vectors.float().clone()


def initial_rows(teacher: Any, bags: Bags) -> torch.Tensor:
    """Return the teacher's vector of each token, times its SIF weight. Tokens are passed by id to keep inner pieces."""
    import torch
    from torch.nn import functional as F

    tokenizer, size = teacher.tokenizer, len(teacher.tokenizer)
    ids = torch.tensor(
        [
            [tokenizer.cls_token_id, token, tokenizer.sep_token_id]
            for token in range(size)
        ]
    )
    vectors = []
    with torch.inference_mode():
        for part in ids.to(bags.flat.device).split(2048):
            output = teacher(
                {"input_ids": part, "attention_mask": torch.ones_like(part)}
            )
            vectors.append(F.normalize(output["sentence_embedding"].float(), dim=1))
    counts = bags.flat.bincount(minlength=size)
    return (
        torch.cat(vectors) * (SIF / (SIF + counts / counts.sum())).unsqueeze(1)
    ).clone()


def fit(
    rows: torch.Tensor,
    bags: Bags,
    targets: torch.Tensor,
    epochs: int,
    batch: int,
    say: Progress,
) -> None:
    """Train the rows in place: AdamW with a cosine schedule over shuffled batches."""
    import torch

    steps = epochs * max(1, len(targets) // batch)
    optimizer = torch.optim.AdamW([rows], lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(epochs):
        order = torch.randperm(len(targets), device=targets.device)
        losses = []
        for start in range(0, max(1, len(order) - batch + 1), batch):
            chosen = order[start : start + batch]
            loss = distance(bags.sum(rows, chosen), targets[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.detach())
        say(f"epoch {epoch + 1}: loss {float(torch.stack(losses).mean()):.4f}")


def distance(student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Return the loss: the distance of student and teacher, plus the divergence of their neighbors."""
    from torch.nn import functional as F

    pointing = 1 - (student * teacher).sum(1).mean()
    return pointing + F.kl_div(
        neighbors(student), neighbors(teacher), reduction="batchmean", log_target=True
    )


def neighbors(vectors: torch.Tensor) -> torch.Tensor:
    """Return for each vector the log-probabilities of the others, by similarity; a very low one for itself."""
    from torch.nn import functional as F

    similar = vectors @ vectors.T / TEMPERATURE
    similar.fill_diagonal_(-1e4)  # not -inf: 0 * -inf would make the divergence NaN
    return F.log_softmax(similar, dim=1)


def save(path: Path, rows: Floats) -> None:
    """Write the rows as int8 with one float16 scale per row."""
    scale = np.maximum(np.abs(rows).max(1, keepdims=True) / 127, 1e-6).astype(
        np.float16
    )
    i8 = np.clip(np.rint(rows / scale.astype(np.float32)), -127, 127).astype(np.int8)
    np.savez_compressed(path, i8=i8, scale=scale)


# --- measuring -------------------------------------------------------------------------------------------------------


def evaluate(given: argparse.Namespace) -> None:
    """Print the recall by cosine of the static vectors alone."""
    from pack_static import pack

    from rawkomem.embed.static import StaticEmbedder

    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, "vectors.bin")
        pack(given.vectors, given.vocab, packed)
        embedder = StaticEmbedder(str(packed), "measured")

        def embed(texts: list[str]) -> Floats:
            return np.frombuffer(b"".join(embedder.embed(texts)), "<f4").reshape(
                len(texts), embedder.dims
            )

        for name, measure in MEASURES.items():
            path = given.data / f"{name}.json"
            if path.exists():
                print(f"{name:9}", measure(json.loads(path.read_text("utf-8")), embed))


def metatool(data: Any, embed: Any) -> str:
    """Return the recall of the tool whose condition fits a request."""
    return show(
        recalls(data["queries"], data["memories"], embed, lambda memory: memory["when"])
    )


def cosqa(data: Any, embed: Any) -> str:
    """Return the recall of the function that answers a question."""
    return show(
        recalls(data["queries"], data["memories"], embed, lambda memory: memory["text"])
    )


def locomo(data: Any, embed: Any) -> str:
    """Return the recall of the turns with the evidence: the turn alone, with its speaker, with speaker and date."""
    forms = {
        "text": lambda turn: turn["text"],
        "speaker": lambda turn: f"{turn['speaker']}: {turn['text']}",
        "speaker+date": lambda turn: (
            f"{turn['date']} {turn['speaker']}: {turn['text']}"
        ),
    }
    found = []
    for name, form in forms.items():
        each = [
            row
            for part in data["sets"]
            for row in recalls(part["queries"], part["memories"], embed, form)
        ]
        found.append(f"{name} {show(each)}")
    return "   ".join(found)


def clinc(data: Any, embed: Any) -> str:
    """Return the recall of the right one of 150 memories with four conditions each, and the AUROC of "any fits"."""
    owners = np.repeat(
        np.arange(len(data["memories"])),
        [len(memory["when"]) for memory in data["memories"]],
    )
    conditions = embed([when for memory in data["memories"] for when in memory["when"]])
    scores = embed([query["q"] for query in data["queries"]]) @ conditions.T
    scores = np.stack(
        [scores[:, owners == owner].max(1) for owner in range(len(data["memories"]))], 1
    )
    hits = fractions(
        scores, data["queries"], [memory["id"] for memory in data["memories"]]
    )
    answerable = np.array([bool(query["relevant"]) for query in data["queries"]])
    best = scores.max(1)
    return f"{show(hits)}   AUROC {auroc(best[answerable], best[~answerable]):.3f}"


def recalls(queries: Any, memories: Any, embed: Any, form: Any) -> list[list[float]]:
    """Return for each query with evidence the fraction of it in the top 1, 5 and 10."""
    scores = (
        embed([query["q"] for query in queries])
        @ embed([form(memory) for memory in memories]).T
    )
    return fractions(scores, queries, [memory["id"] for memory in memories])


def fractions(scores: Floats, queries: Any, ids: list[str]) -> list[list[float]]:
    """Return the fraction of each query's evidence in its top 1, 5 and 10; queries without evidence are left out."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    found = []
    for order, query in zip(best, queries, strict=True):
        wanted = set(query["relevant"]) & set(ids)
        if wanted:
            found.append(
                [
                    len(wanted & {ids[at] for at in order[:top]}) / len(wanted)
                    for top in (1, 5, 10)
                ]
            )
    return found


def auroc(yes: Floats, no: Floats) -> float:
    """Return the probability that an answerable query scores above an unanswerable one."""
    no = np.sort(no)
    return float(
        (np.searchsorted(no, yes, "left") + np.searchsorted(no, yes, "right")).mean()
        / 2
        / len(no)
    )


def show(rows: list[list[float]]) -> str:
    """Return the means as text: `0.516 0.751 0.811 (rows)`."""
    return (
        " ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)) + f" ({len(rows)})"
    )


MEASURES = {"metatool": metatool, "clinc": clinc, "locomo": locomo, "cosqa": cosqa}


if __name__ == "__main__":
    main()
