"""The page: who is let in, which files can be named, and that a fit is charged once."""

from tests.mutants.mutant import Mutant

HOME = "src/sparsedp/ui"
GUARD = f"{HOME}/guard.py"
PLACES = f"{HOME}/places.py"
FITTING = f"{HOME}/fitting.py"
DOOR = ("tests/ui/test_guard.py",)
ONCE = ("tests/ui/test_charged_once.py",)
ODD = ("tests/ui/test_attacks.py",)
FORM = ("tests/ui/test_columns.py",)

MUTANTS = [
    # who is let in
    Mutant(GUARD, 'if headers.getlist("host") != [session.host]:', "if False:", DOOR),
    Mutant(GUARD, 'if headers.getlist("origin") != [self.session.origin]:', "if False:", DOOR),
    Mutant(
        GUARD,
        'if not hmac.compare_digest(form.pop("csrf", "").encode(), csrf.encode()):',
        "if False:",
        DOOR,
    ),
    Mutant(
        GUARD,
        '        if not session.knows(request.cookies.get(COOKIE, "")):\n            return _refused(CLOSED, 403)\n        return None',
        "        return None",
        DOOR,
    ),
    Mutant(
        GUARD,
        "            self._token = secrets.token_urlsafe(24)\n            cookie",
        "            cookie",
        DOOR,
    ),
    Mutant(GUARD, "path=session.base, httponly=True", "httponly=True", DOOR),
    Mutant(GUARD, "httponly=True", "httponly=False", DOOR),
    Mutant(GUARD, 'samesite="strict"', 'samesite="lax"', DOOR),
    Mutant(GUARD, '!= "application/x-www-form-urlencoded":', "is None:", DOOR),
    # which files can be named
    Mutant(PLACES, "if real != self.root and self.root not in real.parents:", "if False:", DOOR),
    Mutant(
        PLACES, "real = Path(os.path.realpath(path))", "real = Path(os.path.abspath(path))", DOOR
    ),
    Mutant(PLACES, 'f"./{plain}" if plain.startswith("-") else plain', "plain", DOOR),
    Mutant(f"{HOME}/journey.py", "if not all(map(self.places.is_own, named)):", "if False:", ODD),
    Mutant(PLACES, "or found.st_uid != os.geteuid()", "", ODD),
    Mutant(PLACES, "found = path.lstat()", "found = path.stat()", ODD),
    # charged once
    Mutant(
        FITTING,
        "if now.is_open and attempt == now.attempt + 1:",
        "if attempt == now.attempt + 1:",
        ONCE,
    ),
    Mutant(FITTING, "fit.code == 2 and resuming is False", "fit.code != 0 and not resuming", ONCE),
    Mutant(FITTING, "resuming is False and not _has_model", "not resuming and not _has_model", ODD),
    Mutant(FITTING, ".encode() + content)", ".encode())", ODD),
    Mutant(
        f"{HOME}/steps/fit.py",
        'if context.form.get("shown") != fitting.fingerprint(context.journey, context.said):',
        "if False:",
        ODD,
    ),
    Mutant(FITTING, " and not _has_model(journey):", ":", ONCE),
    Mutant(FITTING, "            pass_fds=(lock,),\n", "", ONCE),
    Mutant(
        FITTING,
        "            start_new_session=True,\n",
        "",
        ONCE,
        survives="a server that is killed takes no group with it; Ctrl-C in a terminal does",
    ),
    # a key is published nowhere
    Mutant(f"{HOME}/steps/sign.py", 'if key.split("/")[0] == WORK:', "if False:", ONCE),
    # what is run is what was said
    Mutant(
        f"{HOME}/commands.py",
        '*("--quiet", "--progress", "-o", self.model, "--json"),',
        '*("--progress", "-o", self.model, "--json"),',
        FORM,
    ),
    Mutant(f"{HOME}/commands.py", "if text.isprintable():", "if True:", FORM),
    Mutant(
        f"{HOME}/columns.py",
        'said = {"kind": "category", "categories": listed(target.classes)}',
        'said = {"kind": "category", "categories": target.classes}',
        FORM,
    ),
]
