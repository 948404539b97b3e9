"""The commands of all steps: what is shown is what is run, to the letter."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from sparsedp.ui.answers import Answers

DIALECTS = ("postgresql", "sqlite", "duckdb", "bigquery")
EXPORTS = {"python": "model.py", "js": "model.mjs", "sql": "model.sql", "onnx": "model.onnx"}
"""Formats, and the files that they go to."""

SIGNING = ("sign", "report", "signature")
"""What is kept of the commands of a signature."""


def shown(command: Sequence[str]) -> str:
    """As one types it into a shell, in the folder where the page was started."""
    return " ".join(map(_quoted, ["sparsedp", *command]))


def _quoted(text: str) -> str:
    """One argument; what is no printable text is spelled out, as bash and zsh read it.

    A header is a stranger's: a control character in a name would end the quotes when it is pasted,
    and marks of the direction of writing would show another command than the one that is copied.
    """
    if text.isprintable():
        return shlex.quote(text)
    spelled = (_spelled(character) for character in text)
    return f"$'{''.join(spelled)}'"


def _spelled(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


@dataclass(frozen=True)
class Commands:
    """The commands of one journey.

    Parameters
    ----------
    said : Answers
    work : str
        Its folder, relative to where commands run.
    """

    said: Answers
    work: str

    @property
    def schema(self) -> str:
        """The schema file."""
        return f"{self.work}/schema.toml"

    @property
    def book(self) -> str:
        """The form of columns, as a code book."""
        return f"{self.work}/columns.json"

    @property
    def model(self) -> str:
        """Folder of the model."""
        return f"{self.work}/model"

    def look(self) -> list[str]:
        """Read the header."""
        return ["init", *self._source(), "-o", self.schema, "--json"]

    def draft(self) -> list[str]:
        """Write the schema, from the form of columns if it was filled in, else from a code book."""
        said = self.said
        who = ["--person", said.person] if said.unit == "person" else []
        who += ["--unit", "row"] if said.unit == "row" else []
        book = self.book if said.filled else said.codebook
        return [
            *("init", *self._source(), *_option("--target", said.target), *who),
            *(*_option("--codebook", book), "-o", self.schema, "--force", "--json"),
        ]

    def plan(self, *, by_default: bool = False) -> list[str]:
        """What a fit releases, and which quality to expect; nothing is read but names of columns.

        With ``by_default`` the number of features is left to the method.
        """
        size = [] if by_default else _option("--n-nonzero", self.said.n_nonzero)
        return ["plan", *self._source(), *self._declared(), *size, *self._believed(), "--json"]

    def show_ledger(self) -> list[str]:
        """The state of the budget."""
        return ["ledger", self.said.ledger, "--json"]

    def make_ledger(self) -> list[str]:
        """A new budget."""
        said = self.said
        unit = "person" if said.unit == "person" else "record"
        return [
            *("ledger", said.ledger, "--create", "--epsilon", said.ledger_epsilon),
            *("--delta", said.ledger_delta, "--unit", unit, "--neighbors", said.neighbors),
            "--json",
        ]

    def fit(self) -> list[str]:
        """The one that is charged."""
        said = self.said
        flags = {
            "--intervals": said.intervals,
            "--allow-unmatched": said.allow_unmatched,
            "--yes": said.yes,
        }
        return [
            *("fit", *self._source(), *self._declared(), *_option("--n-nonzero", said.n_nonzero)),
            *(*self._believed(), *(flag for flag, given in flags.items() if given)),
            *("--invalid", said.invalid, "--ledger", said.ledger, *_option("--who", said.who)),
            *("--quiet", "--progress", "-o", self.model, "--json"),
        ]

    def resume(self) -> list[str]:
        """Put a model in place that is paid for."""
        return ["fit", "--resume", "-o", self.model, "--json"]

    def verify(self) -> list[str]:
        """Count anew."""
        return ["verify", self.model, "--ledger", self.said.ledger, "--json"]

    def export(self, to: str, dialect: str, table: str) -> list[str]:
        """The model for another engine."""
        how = ["--dialect", dialect, *_option("--table", table)] if to == "sql" else []
        return ["export", self.model, "--to", to, *how, "-o", f"{self.work}/{EXPORTS[to]}"]

    def sign(self, key: str, signer: str, *, new: bool) -> list[list[str]]:
        """Sign the model, write its report anew, and check the signature.

        The public part of the key stands beside it if it was made here.
        """
        ledger = ["--ledger", self.said.ledger]
        public = ["--public-key", f"{key}.pub"] if new else []
        how = ["--new-key" if new else "--key", key, "--name", signer]
        return [
            ["sign", self.model, *how, *ledger],
            ["report", self.model, *ledger],
            ["verify", self.model, *ledger, *public, "--json"],
        ]

    def evaluate(self) -> list[str]:
        """Private scores on other records: shown, not run, for it names a file to come."""
        return [
            *("evaluate", self.model, "OTHER.csv", "--epsilon", "0.3"),
            *("--ledger", "OTHER.ledger"),
        ]

    def _source(self) -> list[str]:
        said = self.said
        encoding = "" if said.encoding == "utf-8" else said.encoding
        return [
            said.data,
            *_option("--encoding", encoding),
            *_option("--delimiter", said.delimiter),
            *_option("--sheet", said.sheet),
        ]

    def _declared(self) -> list[str]:
        said = self.said
        return [
            *("--schema", self.schema, *(("--task", "count") if said.is_count else ())),
            *("--epsilon", said.epsilon, "--delta", said.delta, "--neighbors", said.neighbors),
        ]

    def _believed(self) -> list[str]:
        said = self.said
        guessed = [*_option("--ceiling", said.ceiling), *_option("--rate", said.rate)]
        return [
            *_option("--holdout", said.holdout),
            *_option("--records", said.records),
            *(guessed if said.records else []),
        ]


def _option(name: str, value: str) -> list[str]:
    """An option that was said."""
    return [name, value] if value else []
