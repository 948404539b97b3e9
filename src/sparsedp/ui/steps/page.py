"""What all steps share: the journey of a request, templates, and where an error belongs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from sparsedp.ui.answers import STEPS, Answers
from sparsedp.ui.commands import shown
from sparsedp.ui.fitting import Standing, standing
from sparsedp.ui.journey import Journey
from sparsedp.ui.places import Places

FITTED = (
    "this journey has its fit, and its settings cannot be changed any more; to fit again, and pay "
    "again, begin another one from its results"
)


class Problem(Exception):
    """Something that the person can put right.

    Parameters
    ----------
    sentence : str
    field : str
        The field that it concerns; empty if it is none.
    status : int
    """

    def __init__(self, sentence: str, field: str = "", status: int = 422) -> None:
        super().__init__(sentence)
        self.sentence, self.field, self.status = sentence, field, status


@cache
def templates() -> jinja2.Environment:
    """The pages, in which everything is escaped."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("sparsedp.ui", "pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["command"] = shown
    found.filters["number"] = _number
    found.filters["pair"] = lambda name: (name, name)
    found.filters["sentence"] = _sentence
    return found


def _number(value: object, digits: int = 4) -> str:
    return f"{value:.{digits}g}" if isinstance(value, int | float) else str(value)


def _sentence(text: str) -> str:
    """With a capital letter, unless it begins with a name, and an end."""
    first = text.split(" ")[0]
    begun = text[:1].upper() + text[1:] if first.isalpha() else text
    return begun + ("" if text[-1:] in ".?!" else ".")


@dataclass(frozen=True)
class Context:
    """Where a request is: its journey, and how far that has come.

    Parameters
    ----------
    request : Request
    journey : Journey
    said : Answers
    fit : Standing
    """

    request: Request
    journey: Journey
    said: Answers
    fit: Standing

    @classmethod
    def of(cls, request: Request) -> "Context":
        """The journey that the address names."""
        journey = Journey.found(places(request), request.path_params["name"])
        return cls(request, journey, journey.said, standing(journey))

    @property
    def form(self) -> Mapping[str, str]:
        """What was posted."""
        return self.request.state.form

    def can_see(self, step: str) -> bool:
        """Whether this step may be opened."""
        return self.fit.kind == "done" if step == "result" else self.said.can_see(step)

    def check_open(self, step: str) -> None:
        """Refuse to change what a fit was made of, or to go ahead of oneself."""
        if not self.fit.is_open:
            raise Problem(FITTED, status=409)
        if not self.said.can_see(step):
            raise Problem("the steps before this one come first", status=409)

    def page(
        self,
        step: str,
        commands: Iterable[Sequence[str]],
        problem: Problem | None = None,
        **more: object,
    ) -> Response:
        """Show a step."""
        if not self.can_see(step):
            return self.go("fit" if self.said.reached == "result" else self.said.reached)
        return rendered(
            self.request,
            f"{step}.html",
            problem,
            step=step,
            journey=self.journey,
            said=self.said,
            fit=self.fit,
            commands=list(commands),
            visible={name: self.can_see(name) for name in STEPS},
            **more,
        )

    def go(self, step: str) -> Response:
        """On to another step."""
        base = self.request.app.state.base
        return RedirectResponse(f"{base}/{self.journey.name}/{step}", status_code=303)


def places(request: Request) -> Places:
    """The folder of the page."""
    return request.app.state.places


def rendered(
    request: Request, template: str, problem: Problem | None, **more: object
) -> HTMLResponse:
    """A page."""
    text = templates().get_template(template)
    return HTMLResponse(
        text.render(
            base=request.app.state.base,
            csrf=request.state.csrf,
            root=str(places(request).root),
            steps=STEPS,
            problem=problem,
            **more,
        ),
        status_code=200 if problem is None else problem.status,
    )


def previewed(commands: Iterable[Sequence[str]]) -> Response:
    """The commands that a form would run; nothing is run."""
    return PlainTextResponse("\n".join(shown(command) for command in commands))


def concerning(sentence: str, needles: Mapping[str, str], work: str = "") -> Problem:
    """A command's sentence, beside the first field of which it says a word.

    Parameters
    ----------
    sentence : str
    needles : mapping
        Fields by a word that only sentences about them have.
    work : str
        The journey's folder: a file of the page's own is not named.
    """
    for name in (f"{work}/schema.toml: ", f"{work}/columns.json: "):
        sentence = sentence.removeprefix(name)
    field = next((field for needle, field in needles.items() if needle in sentence), "")
    return Problem(sentence, field)
