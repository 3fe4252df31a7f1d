// Direct labels: where a curve's name finds room. Pixels are computed from the layout, so one drawing is enough.
(() => {
  "use strict";
  const canvas = document.createElement("canvas");
  const FONT = 12.5;

  const measure = (text) => {
    const context = canvas.getContext("2d");
    context.font = `600 ${FONT}px ${getComputedStyle(document.body).fontFamily}`;
    const box = document.createElement("textarea"); // the text carries entities for Plotly; measure what is seen
    box.innerHTML = text;
    return context.measureText(box.value).width;
  };

  const overlap = (a, b) =>
    Math.max(0, Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0)) * Math.max(0, Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0));

  // Small boxes along every curve: what a label must not lie on.
  const obstacles = (data, px, py) => {
    const found = [];
    for (const trace of data) {
      if (trace.hoverinfo === "skip") continue;
      let last = null;
      trace.x.forEach((x, i) => {
        if (x === null) { last = null; return; }
        const at = [px(x), py(trace.y[i])];
        found.push({ x0: at[0] - 7, x1: at[0] + 7, y0: at[1] - 7, y1: at[1] + 7, cost: 3 });
        if (last) {
          const steps = Math.min(24, Math.ceil(Math.hypot(at[0] - last[0], at[1] - last[1]) / 9));
          for (let s = 1; s < steps; s += 1) {
            const x1 = last[0] + ((at[0] - last[0]) * s) / steps;
            const y1 = last[1] + ((at[1] - last[1]) * s) / steps;
            found.push({ x0: x1 - 3, x1: x1 + 3, y0: y1 - 3, y1: y1 + 3, cost: 2 });
          }
        }
        last = at;
      });
    }
    return found;
  };

  // data, layout: as sent; size: {width, height}. Returns Plotly annotations.
  window.fuseboardLabels = (data, layout, size, most) => {
    const margin = layout.margin;
    const w = size.width - margin.l - margin.r;
    const h = size.height - margin.t - margin.b;
    const [x0, x1] = layout.xaxis.range;
    const [y0, y1] = layout.yaxis.range;
    const px = (x) => ((Math.log10(x) - x0) / (x1 - x0)) * w;
    const py = (y) => h - ((y - y0) / (y1 - y0)) * h;
    const blocks = obstacles(data, px, py);
    const placed = [];
    const found = [];
    for (const label of (layout.meta.labels || []).slice(0, most)) {
      const width = measure(label.text) + 6;
      const height = 17;
      let best = null;
      label.ends.forEach(([x, y], end) => {
        const [cx, cy] = [px(x), py(y)];
        if (cx < 0 || cx > w || cy < 0 || cy > h) return;
        const spots = [
          [cx + 11, cy - height / 2], [cx + 8, cy - height - 6], [cx + 8, cy + 6], [cx - width / 2, cy - height - 9],
          [cx - width / 2, cy + 9], [cx - width - 8, cy - height - 6], [cx - width - 11, cy - height / 2], [cx - width - 8, cy + 6],
          [cx + 14, cy - 2 * height - 4], [cx + 14, cy + height + 6],
        ];
        spots.forEach(([left, top], order) => {
          const box = { x0: left, x1: left + width, y0: top, y1: top + height };
          if (box.x0 < 2 || box.x1 > w + margin.r - 2 || box.y0 < 0 || box.y1 > h - 2) return;
          // The fast end (the second) first: there curves lie apart; a small price for far spots.
          let cost = order * 6 + (end === 1 ? 0 : 14);
          for (const other of placed) cost += overlap(box, other) * 40;
          for (const block of blocks) cost += overlap(box, block) * block.cost;
          if (!best || cost < best.cost) best = { cost, box };
        });
      });
      // A label on top of another is worse than none: hovering and the table name every curve.
      if (!best || placed.some((other) => overlap(best.box, other) > 4) || best.cost > 900) continue;
      placed.push(best.box);
      found.push({
        xref: "paper", yref: "paper", x: (best.box.x0 + 3) / w, y: 1 - (best.box.y0 + height / 2) / h,
        xanchor: "left", yanchor: "middle", showarrow: false, text: label.text, align: "left", borderpad: 1, bgcolor: "var(--surface/.7)",
        font: { size: FONT, color: label.color, weight: 600 },
      });
    }
    return found;
  };
})();
