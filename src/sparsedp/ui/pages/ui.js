"use strict";
// Everything works without this file but the sliders, the copy buttons and the live progress.

const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);

// Copy buttons.
each("[data-copy]", (button) => {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
});

// A line ends between the words of a command, and not within an option.
const lay = (code) => {
  const parts = code.textContent.split(/([ \n]+)/).map((part) => {
    if (!part.startsWith("-") || part.length > 40) return part;
    const option = document.createElement("span");
    option.className = "option";
    option.textContent = part;
    return option;
  });
  code.replaceChildren(...parts);
};
each("code", lay);

// The command follows the form: the server builds it, and runs nothing.
const encoded = (form, more = {}) => {
  const data = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(more)) data.set(name, value);
  return data;
};
each("form.previewed", (form) => {
  const shown = document.querySelector(`#${new FormData(form).get("terminal") || "commands"} code`);
  let latest = 0;
  const preview = async () => {
    const mine = ++latest;
    const answer = await fetch(form.action, { method: "POST", body: encoded(form, { preview: "1" }) });
    const text = await answer.text();
    if (mine !== latest || !answer.ok || !text) return;
    shown.textContent = text.replaceAll("\n", "\n\n");
    lay(shown);
  };
  let timer = null;
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(preview, 200); });
});

// Fields that the chosen kind does not have are left out of sight.
each("[data-kind]", (group) => {
  const select = document.getElementById(group.dataset.kind);
  const missing = group.querySelector("select[id$=-missing]");
  const follow = () => {
    each("[class*=for-]", (field) => {
      const kinds = [...field.classList].filter((name) => name.startsWith("for-"));
      const valued = !field.classList.contains("for-value") || (missing && missing.value === "value");
      field.classList.toggle("off", !kinds.includes(`for-${select.value}`) || !valued);
    }, group);
  };
  group.addEventListener("change", follow);
  follow();
});
each("[data-when]", (part) => {
  const [name, value] = part.dataset.when.split("=");
  const follow = () => {
    part.hidden = !document.querySelector(`[name="${name}"][value="${value}"]`).checked;
  };
  document.addEventListener("change", follow);
  follow();
});

// Sliders: epsilon on a logarithmic scale, features as they are, 0 for the method's own choice.
const EPSILONS = [0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10];
const nearest = (value) => {
  const far = EPSILONS.map((each) => Math.abs(Math.log(each / value)));
  return far.indexOf(Math.min(...far));
};
each("input[type=range]", (range) => {
  const field = document.getElementById(range.dataset.for);
  const log = range.dataset.scale === "log";
  if (log) [range.min, range.max] = [0, EPSILONS.length - 1];
  const show = () => {
    range.value = log ? nearest(Number(field.value) > 0 ? Number(field.value) : 1) : field.value || 0;
    range.setAttribute("aria-valuetext", field.value || "left to the method");
  };
  range.hidden = false;
  show();
  range.addEventListener("input", () => {
    field.value = log ? EPSILONS[range.value] : range.value === "0" ? "" : range.value;
    range.setAttribute("aria-valuetext", field.value || "left to the method");
  });
  field.addEventListener("input", show);
});

// Errors stand beside their fields, as in the page that the server sent; what was typed stays.
const mark = (form, fresh) => {
  each(".error", (old) => old.remove(), form);
  each("input[name]", (field) => {
    const other = fresh && fresh.querySelector(`[id="${field.id}"]`);
    if (!field.id || !other) return;
    for (const name of ["aria-invalid", "aria-describedby"]) {
      if (other.hasAttribute(name)) field.setAttribute(name, other.getAttribute(name));
      else field.removeAttribute(name);
    }
    const error = fresh.querySelector(`[id="${field.id}-error"]`);
    if (!error) return;
    error.setAttribute("role", "alert");
    form.querySelector(`label[for="${field.id}"]`).after(error);
    field.closest("details")?.setAttribute("open", "");
  }, form);
};

// The plan follows the form; one at a time, and the last one counts.
each("form.planned", (form) => {
  let timer = null;
  let running = false;
  let again = false;
  const plan = async () => {
    if (running) { again = true; return; }
    running = true;
    const expected = document.getElementById("expected");
    expected.setAttribute("aria-busy", "true");
    const answer = await fetch(form.action, { method: "POST", body: encoded(form) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["expected", "commands"]) {
      const fresh = page.getElementById(id);
      if (fresh) document.getElementById(id).replaceChildren(...fresh.childNodes);
    }
    each("#commands code", lay);
    mark(form, page.querySelector("form.planned"));
    expected.setAttribute("aria-busy", "false");
    running = false;
    if (again) { again = false; plan(); }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(plan, 250); };
  form.addEventListener("change", soon);
  form.addEventListener("submit", () => clearTimeout(timer));
});

// A second click is answered by the server; this only says that the first was heard.
each("form.once", (form) => {
  form.addEventListener("submit", () => {
    each("button", (button) => button.setAttribute("aria-disabled", "true"), form);
  });
});

// Live progress.
const running = document.getElementById("running");
if (running) {
  const bar = document.getElementById("progress");
  const status = document.getElementById("status");
  const look = async () => {
    try {
      const state = await (await fetch(running.dataset.state)).json();
      if (state.kind !== "running") { location.reload(); return; }
      if (state.progress) {
        [bar.value, bar.max] = state.progress;
        status.textContent = `${state.progress[0]} of ${state.progress[1]} releases`;
      }
    } catch {
      status.textContent = "The server does not answer; the fit goes on without it.";
    }
    setTimeout(look, 700);
  };
  setTimeout(look, 500);
}
