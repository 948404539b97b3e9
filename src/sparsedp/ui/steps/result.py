"""What came of it: verdict, scores, report and export."""

from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from sparsedp.ui.commands import DIALECTS, EXPORTS, SIGNING
from sparsedp.ui.steps.page import Context, Problem, concerning, previewed

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; "
    "base-uri 'none'; form-action 'none'; sandbox"
)
"""The report has its style within, and needs nothing else."""


def show(request: Request) -> Response:
    """The page."""
    return page(Context.of(request), {}, None)


def export(request: Request) -> Response:
    """Write the model for another engine."""
    context = Context.of(request)
    form = dict(context.form)
    to, dialect = form.get("to", "python"), form.get("dialect", DIALECTS[0])
    table = form.get("table", "").strip()
    try:
        if to not in EXPORTS or dialect not in DIALECTS:
            raise Problem("choose one of these", "to")
        command = context.journey.commands(context.said).export(to, dialect, table)
        if "preview" in form:
            return previewed([command])
        with context.journey.changing():
            context = Context.of(request)
            if context.fit.kind != "done":
                raise Problem("there is no model yet", status=409)
            ran = context.journey.run("export", command)
            if not ran.is_well:
                raise concerning(ran.error, {"--table": "table", "table": "table", "": "to"})
    except Problem as problem:
        return previewed([]) if "preview" in form else page(context, form, problem)
    return context.go("result")


def report(request: Request) -> Response:
    """The report, as it was written."""
    return _file(request, Path("model/report.html"), "text/html", REPORT_POLICY)


def exported(request: Request) -> Response:
    """A file that an export wrote, as text."""
    name = request.path_params["file"]
    if name not in EXPORTS.values():
        return PlainTextResponse("there is no such file\n", status_code=404)
    kind = "application/octet-stream" if name.endswith(".onnx") else "text/plain"
    return _file(request, Path(name), kind, "default-src 'none'; sandbox")


def _file(request: Request, path: Path, kind: str, policy: str) -> Response:
    context = Context.of(request)
    found = context.journey.folder / path
    if context.fit.kind != "done" or not found.is_file():
        return PlainTextResponse("there is no such file\n", status_code=404)
    return FileResponse(
        found,
        media_type=f"{kind}; charset=utf-8" if kind.startswith("text") else kind,
        headers={"Content-Security-Policy": policy},
    )


def page(context: Context, form: Mapping[str, str], problem: Problem | None) -> Response:
    """The results, with what was filled in on them."""
    commands = context.journey.commands(context.said)
    fit = context.fit.fit
    ran, signed = context.journey.ran("export"), context.journey.ran("signature")
    signing = [found for name in SIGNING if (found := context.journey.ran(name)) is not None]
    return context.page(
        "result",
        [] if fit is None else [fit.command],
        problem,
        form=form,
        model={} if fit is None else fit.output,
        ledger=context.fit.ledger,
        verified=context.fit.verify if signed is None else signed,
        signed=None if signed is None else signed.output.get("signature"),
        to_sign=[each.command for each in signing] or commands.sign("KEY", "NAME", new=False),
        exports=EXPORTS,
        dialects=DIALECTS,
        files=[name for name in EXPORTS.values() if (context.journey.folder / name).is_file()],
        to_export=commands.export("python", DIALECTS[0], "") if ran is None else ran.command,
        evaluate=commands.evaluate(),
    )
