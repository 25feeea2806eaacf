// The curves of an agent's page, and whether the page is live. htmx renews the rest.
"use strict";

(() => {
  const DPR_POINT = 4;
  const day = "\n{YYYY}-{MM}-{DD}";
  const TIMES = [ // the step, the label, and what is added when the year, month, day, hour ... changes
    [86400 * 28, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
    [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", day, null, day, null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", day, null, day, null, null, null, 1],
    [0.001, ":{ss}.{fff}", day + " {HH}:{mm}", null, day + " {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
  ];
  const OUTLIER = 1, LIAR = 2, FAILED = 3;
  const live = document.getElementById("live");
  const charts = document.getElementById("charts");
  let latest = null, drawn = [], shownEntries = null;

  // live or not

  const say = (text, bad) => {
    live.textContent = text;
    live.classList.toggle("bad", Boolean(bad));
  };
  const isPolled = document.querySelector("[hx-trigger^='every']");
  if (isPolled) say("live");
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden) event.preventDefault(); // nobody looks
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    const { successful, xhr } = event.detail;
    if (successful) {
      say("live");
      const entries = document.getElementById("poll")?.dataset.entries;
      if (charts && entries !== shownEntries) load();
    } else if (xhr && xhr.status === 401) {
      location.assign("/login");
    } else {
      say("no connection; this page is out of date", true);
    }
  });

  // small helpers

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (i) => css(i >= 0 && i < 8 ? `--c${i}` : "--cx");
  const soft = (text, alpha) => text + Math.round(alpha * 255).toString(16).padStart(2, "0");
  const short = (x) => {
    if (x === null || x === undefined) return "";
    const size = Math.abs(x);
    if (size !== 0 && (size >= 1e6 || size < 1e-3)) return x.toExponential(1).replace(".0e", "e").replace("e+", "e");
    return String(Number(x.toPrecision(4)));
  };
  const percent = (x) => `${(100 * x).toFixed(x > 0 && x < 0.0995 ? 1 : 0)} %`;

  function legend(name, items) {
    const box = document.querySelector(`[data-legend="${name}"]`);
    box.replaceChildren(...items.map(({ label, kind, mark }) => {
      const chip = document.createElement("span");
      chip.className = "chip";
      const dot = document.createElement("span");
      dot.className = mark || `dot c${kind}`;
      const text = document.createElement("bdi");
      text.textContent = label; // a name that somebody chose: text, never HTML
      const value = document.createElement("span");
      value.className = "value";
      chip.append(dot, text, value);
      return chip;
    }));
    const values = box.querySelectorAll(".value");
    return (texts) => values.forEach((value, i) => { value.textContent = texts[i] ?? ""; });
  }

  function sizeOf(box) {
    return { width: Math.max(200, Math.floor(box.clientWidth)), height: Math.floor(box.clientHeight) };
  }

  function axes(more) {
    const line = { stroke: css("--grid"), width: 1 };
    const look = { stroke: css("--quiet"), grid: line, ticks: line, font: "12px system-ui, sans-serif" };
    return [{ ...look, space: 70, values: TIMES }, { ...look, size: 62, ...more }];
  }

  function draw(name, options, data) {
    const box = document.querySelector(`[data-chart="${name}"]`);
    box.replaceChildren();
    if (!data[0].length) {
      const text = document.createElement("p");
      text.className = "note";
      text.textContent = "Nothing to draw yet.";
      box.append(text);
      return;
    }
    const plot = new uPlot({
      ...sizeOf(box),
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
      cursor: { drag: { setScale: false }, points: { show: false }, y: false },
      ...options,
    }, data, box);
    drawn.push({ box, plot });
  }

  // the three charts

  function drawShares({ times, shares }, arms) {
    const rest = shares.length > arms.length && shares.at(-1).some((x) => x > 0);
    const rows = shares.slice(0, arms.length + (rest ? 1 : 0));
    const names = rest ? [...arms, "all others"] : arms;
    const kinds = names.map((_, i) => (i < arms.length ? i : -1));
    const tell = legend("shares", names.map((label, i) => ({ label, kind: kinds[i] < 0 ? "x" : i })));
    // stacked: the last arm at the bottom
    const sums = [];
    let below = new Array(times.length).fill(0);
    for (const row of [...rows].reverse()) {
      below = below.map((x, i) => x + row[i]);
      sums.push(below);
    }
    const order = kinds.slice().reverse();
    const series = [{}, ...sums.map((_, i) => ({
      stroke: colour(order[i]), width: 1, points: { show: times.length < 2 },
      fill: i === 0 ? soft(colour(order[0]), 0.55) : undefined,
    }))];
    const bands = sums.slice(1).map((_, i) => ({ series: [i + 2, i + 1], fill: soft(colour(order[i + 1]), 0.55) }));
    draw("shares", {
      series, bands,
      scales: { y: { range: [0, 1] } },
      axes: axes({ values: (_, splits) => splits.map((x) => `${Math.round(100 * x)} %`) }),
      hooks: { setCursor: [(u) => tell(u.cursor.idx == null ? [] : rows.map((row) => percent(row[u.cursor.idx])))] },
    }, [times, ...sums]);
  }

  function drawEstimates({ times, arms: rows, range }, arms) {
    const tell = legend("estimates", arms.map((label, i) => ({ label, kind: i })));
    const cut = (values) => values.map((x) => (x === null ? null : Math.max(range[0], Math.min(range[1], x))));
    const series = [{}], data = [times], bands = [];
    rows.forEach((row, i) => {
      const hidden = { stroke: "transparent", width: 0, points: { show: false } };
      series.push(hidden, hidden, { stroke: colour(i), width: 2, points: { show: times.length < 2 } });
      data.push(cut(row.high), cut(row.low), row.middle);
      bands.push({ series: [3 * i + 1, 3 * i + 2], fill: soft(colour(i), 0.11) });
    });
    draw("estimates", {
      series, bands,
      scales: { y: { range } },
      axes: axes({ values: (_, splits) => splits.map(short) }),
      hooks: { setCursor: [(u) => tell(u.cursor.idx == null ? [] : rows.map((row) => short(row.middle[u.cursor.idx])))] },
    }, data);
  }

  // linear within `linear` of the middle, logarithmic beyond; both parts get as much room
  function symmetricLog(middle, linear, values) {
    const part = (x) => Math.max(-1e300, Math.min(1e300, x / linear - middle / linear));
    const decades = (far) => Math.log10(Math.max(1, Math.abs(far)));
    const most = Math.max(1, ...values.map((x) => decades(part(x))));
    const to = (x) => {
      const far = part(x);
      return Math.abs(far) <= 1 ? far : Math.sign(far) * (1 + decades(far) / most);
    };
    const ticks = (low, high) => {
      const found = [], step = 10 ** Math.floor(Math.log10(linear));
      const wide = step * (linear / step > 4 ? 4 : linear / step > 1.6 ? 2 : 1) / 2;
      for (let k = -4; k <= 4; k++) found.push(Number(((Math.round(middle / wide) + k) * wide).toPrecision(12)));
      // powers of ten further out, of a hundred or more if there are many
      const first = Math.ceil(Math.log10(2 * (linear + Math.abs(middle))));
      const last = most + Math.log10(linear), jump = Math.max(1, Math.ceil((last - first) / 4));
      for (let k = first; k <= Math.min(308, last + 1); k += jump) found.push(10 ** k, -(10 ** k));
      const inSight = found.map((x) => ({ x, at: to(x) })).filter(({ at }) => at >= low && at <= high)
        .sort((a, b) => a.at - b.at);
      const kept = [];
      for (const tick of inSight) {
        if (!kept.length || tick.at - kept.at(-1).at > (high - low) / 18) kept.push(tick);
      }
      return kept;
    };
    return { to, ticks };
  }

  function drawRewards(data, arms) {
    const { times, values, colours, marks, middle, linear, bad_side: badSide } = data;
    document.getElementById("drawn").textContent = data.all > times.length
      ? `${times.length.toLocaleString("en")} of ${data.all.toLocaleString("en")} rewards are drawn, those that stand out first.` : "";
    const has = (mark) => marks.includes(mark);
    legend("rewards", [
      ...arms.map((label, i) => ({ label, kind: i })),
      ...(has(OUTLIER) ? [{ label: "far from the rest", mark: "sign outlier" }] : []),
      ...(has(LIAR) ? [{ label: "from a source that differs", mark: "sign liar" }] : []),
      ...(has(FAILED) ? [{ label: "failed", mark: "sign failed" }] : []),
    ]);
    const scale = symmetricLog(middle, linear, values.filter((x) => x !== null));
    const at = values.map((x) => (x === null ? null : scale.to(x)));
    const known = at.filter((x) => x !== null);
    let low = Math.min(-0.6, ...known), high = Math.max(0.6, ...known);
    const room = 0.07 * (high - low);
    low -= room; high += room;
    const edge = badSide === "low" ? low + room / 2 : high - room / 2;
    const ticks = scale.ticks(low, high);
    const all = at.map((x) => (x === null ? edge : x));
    const paint = (u) => {
      const { ctx } = u, size = DPR_POINT * devicePixelRatio, bad = soft(css("--bad"), 0.7), text = css("--text");
      const inks = arms.map((_, i) => soft(colour(i), 0.6));
      const rest = soft(colour(-1), 0.6);
      ctx.save();
      ctx.beginPath();
      ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
      ctx.clip();
      for (let i = 0; i < times.length; i++) {
        const x = u.valToPos(times[i], "x", true), y = u.valToPos(all[i], "y", true);
        ctx.fillStyle = marks[i] === LIAR ? bad : colours[i] < 0 ? rest : inks[colours[i]];
        if (marks[i] === FAILED) {
          ctx.strokeStyle = ctx.fillStyle;
          ctx.lineWidth = size / 3;
          ctx.beginPath();
          ctx.moveTo(x - size / 2, y - size / 2); ctx.lineTo(x + size / 2, y + size / 2);
          ctx.moveTo(x - size / 2, y + size / 2); ctx.lineTo(x + size / 2, y - size / 2);
          ctx.stroke();
          continue;
        }
        ctx.beginPath();
        ctx.arc(x, y, marks[i] ? size * 0.6 : size / 2, 0, 2 * Math.PI);
        ctx.fill();
        if (marks[i] === OUTLIER) {
          ctx.strokeStyle = text;
          ctx.lineWidth = size / 4;
          ctx.stroke();
        }
      }
      ctx.restore();
    };
    draw("rewards", {
      series: [{}, { paths: () => null, points: { show: false } }],
      scales: { y: { range: [low, high] } },
      cursor: { show: false },
      axes: axes({ splits: () => ticks.map((tick) => tick.at), values: () => ticks.map((tick) => short(tick.x)) }),
      hooks: { draw: [paint] },
    }, [times, all]);
  }

  // from the server to the screen

  function redraw() {
    if (!latest) return;
    drawn.forEach(({ plot }) => plot.destroy());
    drawn = [];
    drawShares(latest.shares, latest.arms);
    drawEstimates(latest.estimates, latest.arms);
    drawRewards(latest.rewards, latest.arms);
    charts.dataset.drawn = latest.entries;
  }

  async function load() {
    try {
      const answer = await fetch(charts.dataset.curves, { credentials: "same-origin" });
      if (answer.status === 401) location.assign("/login");
      if (!answer.ok) return;
      latest = await answer.json();
      shownEntries = document.getElementById("poll").dataset.entries;
      redraw();
    } catch (error) {
      say("no connection; this page is out of date", true);
    }
  }

  if (charts) {
    load();
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width) return; // a phone's address bar
      width = innerWidth;
      drawn.forEach(({ box, plot }) => plot.setSize(sizeOf(box)));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }
})();
