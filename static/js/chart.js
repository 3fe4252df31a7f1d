// Draws every figure of the site. A figure is JSON in a script element; its colours are tokens that are looked up in the
// style sheet, so that a change of theme needs no new figure. Nothing leaves the machine: no upload button, no CDN.
(() => {
  "use strict";
  const CONFIG = {
    displayModeBar: false, displaylogo: false, responsive: false, typesetMath: false, scrollZoom: false,
    doubleClick: "reset", showTips: false, modeBarButtonsToRemove: ["sendChartToCloud"],
  };
  const TOKEN = /^var\((--[a-z-]+)(?:\/([\d.]+))?\)$/;

  const resolved = (value, style) => {
    if (typeof value === "string") {
      const match = TOKEN.exec(value);
      if (!match) return value;
      const colour = style.getPropertyValue(match[1]).trim() || "#888888";
      if (!match[2]) return colour;
      const part = (at) => parseInt(colour.slice(at, at + 2), 16);
      return `rgba(${part(1)},${part(3)},${part(5)},${match[2]})`;
    }
    if (Array.isArray(value)) return value.map((one) => resolved(one, style));
    if (value && typeof value === "object") {
      const copy = {};
      for (const key of Object.keys(value)) copy[key] = resolved(value[key], style);
      return copy;
    }
    return value;
  };

  // About three significant digits, never rounded before the decimal point: as the table writes them.
  const written = (value) => {
    const size = Math.abs(value);
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
    return value.toLocaleString("en-US", { minimumFractionDigits: size < 1 ? 0 : digits, maximumFractionDigits: digits });
  };

  // The lines of a point's hover text; every text in the figure was escaped by the server.
  const hoverText = (trace, i, meta) => {
    const point = trace.customdata[i];
    if (!point) return "";
    const [, curve, load, xRange, yRange, state, cost] = point;
    const line = ([name, unit], value, range) =>
      `${name}: ${written(value)} ${unit}${range ? ` (${written(range[0])}–${written(range[1])})` : ""}`;
    return [trace.meta[curve], load, line(meta.x, trace.x[i], xRange), line(meta.y, trace.y[i], yRange), cost, state]
      .filter(Boolean).join("<br>");
  };

  class Chart {
    constructor(host) {
      this.host = host;
      this.figure = JSON.parse(document.getElementById(host.dataset.figure).textContent);
      const { data, layout: { meta } } = this.figure;
      for (const trace of data) {
        if (trace.customdata) trace.hovertext = trace.customdata.map((_point, i) => hoverText(trace, i, meta));
      }
      this.home = { x: this.figure.layout.xaxis.range, y: this.figure.layout.yaxis.range };
      this.said = document.getElementById(`${host.id}-said`);
      host.textContent = "";
      this.plot = document.createElement("div");
      host.append(this.plot);
      this.points = this.figure.data.flatMap((trace, curveNumber) =>
        trace.hoverinfo === "skip" ? [] : trace.x.flatMap((x, pointNumber) => (x === null ? [] : [{ curveNumber, pointNumber }])));
      this.at = -1;
      this.draw();
      this.listen();
    }

    size() {
      return { width: Math.max(260, this.host.clientWidth), height: this.host.clientHeight };
    }

    // The figure in today's colours and size. Colours are looked up at each drawing: the theme may have changed.
    current(size) {
      const layout = structuredClone(this.figure.layout);
      const style = getComputedStyle(document.documentElement);
      const narrow = size.width < 560;
      if (narrow) {
        layout.margin = { ...layout.margin, l: 50, r: 8, b: 42 };
        layout.xaxis.title.font.size = layout.yaxis.title.font.size = 11;
        layout.yaxis.nticks = 5;
      }
      layout.font.family = getComputedStyle(document.body).fontFamily;
      layout.annotations = window.fuseboardLabels(this.figure.data, layout, size, narrow ? 4 : 12);
      return { data: resolved(this.figure.data, style), layout: { ...resolved(layout, style), ...size } };
    }

    draw() {
      const { data, layout } = this.current(this.size());
      window.Plotly.react(this.plot, data, layout, CONFIG);
      this.host.dataset.drawn = "";
    }

    listen() {
      this.plot.on("plotly_click", (event) => this.open(event.points[0]?.customdata));
      this.plot.on("plotly_relayout", (event) => {
        const zoomed = event["xaxis.range[0]"] !== undefined;
        const moved = zoomed || event["yaxis.range[0]"] !== undefined;
        if (!moved && !event["xaxis.autorange"] && !("xaxis.range" in event)) return;
        const full = this.plot._fullLayout;
        this.figure.layout.xaxis.range = full.xaxis.range.slice();
        this.figure.layout.yaxis.range = full.yaxis.range.slice();
        this.buttons();
        this.draw();
      });
      this.plot.on("plotly_doubleclick", () => this.reset());
      this.host.addEventListener("keydown", (event) => this.key(event));
      this.host.addEventListener("blur", () => window.Plotly.Fx.unhover(this.plot));
      let waiting = 0;
      let width = this.host.clientWidth;
      this.watch = new ResizeObserver(() => {
        if (this.host.clientWidth === width) return;
        width = this.host.clientWidth;
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(() => this.draw());
      });
      this.watch.observe(this.host);
      for (const button of document.querySelectorAll(`[data-chart-png="${this.host.id}"]`)) {
        button.hidden = false;
        button.addEventListener("click", () => this.png());
      }
      for (const button of document.querySelectorAll(`[data-chart-reset="${this.host.id}"]`)) {
        button.addEventListener("click", () => this.reset());
      }
    }

    buttons() {
      const moved = String(this.figure.layout.xaxis.range) !== String(this.home.x) || String(this.figure.layout.yaxis.range) !== String(this.home.y);
      for (const button of document.querySelectorAll(`[data-chart-reset="${this.host.id}"]`)) button.hidden = !moved;
    }

    reset() {
      this.figure.layout.xaxis.range = this.home.x;
      this.figure.layout.yaxis.range = this.home.y;
      this.buttons();
      this.draw();
    }

    // A point leads to its row in the table, where all its figures are; from the keyboard to its runs.
    open(point, straight = false) {
      if (!point) return;
      const row = document.getElementById(`g${point[0]}`);
      if (!row || straight) {
        window.location.assign(`${this.figure.layout.meta.runs}${point[0]}`);
        return;
      }
      for (const other of document.querySelectorAll("tr.here")) other.classList.remove("here");
      row.classList.add("here");
      row.scrollIntoView({ block: "nearest" });
      row.querySelector("a")?.focus({ preventScroll: true });
    }

    key(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const curve = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && this.at >= 0) {
        const point = this.points[this.at];
        this.open(this.figure.data[point.curveNumber].customdata[point.pointNumber], true);
        return;
      }
      if (event.key === "Escape") { window.Plotly.Fx.unhover(this.plot); this.at = -1; return; }
      if ((!step && !curve) || !this.points.length) return;
      event.preventDefault();
      const n = this.points.length;
      if (step) this.at = (this.at + step + n) % n;
      else {
        const now = this.points[Math.max(this.at, 0)].curveNumber;
        do this.at = (this.at + curve + n) % n;
        while (this.points[this.at].curveNumber === now && this.points.some((point) => point.curveNumber !== now));
      }
      const point = this.points[this.at];
      window.Plotly.Fx.hover(this.plot, [point]);
      if (this.said) {
        const box = document.createElement("textarea");
        box.innerHTML = this.figure.data[point.curveNumber].hovertext[point.pointNumber].replace(/<br>/g, "; ").replace(/<\/?b>/g, "");
        this.said.textContent = box.value;
      }
    }

    async png() {
      const size = { width: 1200, height: 620 };
      const { data, layout } = this.current(size);
      const box = document.createElement("textarea");
      box.textContent = `${this.host.dataset.title}`;
      layout.margin = { ...layout.margin, t: 64, b: 78 };
      const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
      layout.title = { text: plain(box.value), x: 0.02, xanchor: "left", font: { size: 19, color: layout.hoverlabel.font.color } };
      layout.annotations = [...layout.annotations.map((note) => note), {
        xref: "paper", yref: "paper", x: 0, y: 0, yshift: -72, xanchor: "left", yanchor: "bottom", showarrow: false,
        text: plain(this.host.dataset.note || ""), font: { size: 11.5, color: layout.font.color },
      }];
      const url = await window.Plotly.toImage({ data, layout }, { format: "png", scale: 2, ...size });
      const link = document.createElement("a");
      link.href = url;
      link.download = `${this.host.dataset.name || "fuseboard"}.png`;
      link.click();
    }
  }

  let charts = [];
  const start = () => {
    for (const chart of charts) {
      if (!chart.host.isConnected) { chart.watch.disconnect(); window.Plotly.purge(chart.plot); }
    }
    charts = charts.filter((chart) => chart.host.isConnected);
    for (const host of document.querySelectorAll("[data-figure]:not([data-drawn])")) charts.push(new Chart(host));
  };
  const redraw = () => charts.forEach((chart) => chart.draw());

  document.addEventListener("themechange", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("htmx:afterSwap", start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
