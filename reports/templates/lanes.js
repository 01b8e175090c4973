"use strict";
(() => {
  const data = JSON.parse(document.getElementById("lanes-data").textContent);
  const element = (name) => document.getElementById("lanes-" + name);
  const view = element("view"), canvas = element("canvas"), detail = element("detail");
  const context = canvas.getContext("2d");
  const LANE = 22, AXIS = 24, MOST_LINKS = 400, HEIGHT = 520, LEAST_SPAN = 200;

  // Columns as the page holds them: instants as distances from each other.
  const count = data.begin.length;
  const begin = new Float64Array(count), end = new Float64Array(count);
  let instant = 0, last = 1;
  for (let i = 0; i < count; i++) {
    begin[i] = instant += data.begin[i];
    if (data.length[i] >= 0) last = Math.max(last, begin[i] + data.length[i]);
    last = Math.max(last, begin[i]);
  }
  for (let i = 0; i < count; i++) end[i] = data.length[i] < 0 ? last : begin[i] + data.length[i];
  const landed = (i) => data.landed[i] < 0 ? end[i] : begin[i] + data.landed[i];
  const refusal = new Map(data.refused.place.map((place, number) => [place, number]));
  const partitions = data.refused.evidences.map((text) => {
    const parts = text.split("/").slice(0, -1).filter((part) => part.includes("="));
    return parts.join("/");
  });

  const state = { from: 0, to: last, lanes: [], chosen: -1 };
  let shown = { place: [], of: new Map() };

  const options = (select, names) => names.forEach((name, number) => {
    const option = document.createElement("option");
    option.value = String(number);
    option.textContent = name;
    select.append(option);
  });
  const namesOfPartitions = [...new Set(partitions)].filter((name) => name).sort();
  options(element("group"), data.groups);
  options(element("exception"), data.refused.exceptions);
  options(element("partition"), namesOfPartitions);
  element("partition").parentElement.hidden = !namesOfPartitions.length;
  if (!data.refused.place.length)
    for (const name of ["exception", "refused", "previous", "next"]) element(name).disabled = true;

  // Which refusals the filters leave, and which lanes and transactions then are to be drawn.
  function filter() {
    const group = element("group").value, exception = element("exception").value;
    const partition = element("partition").value;
    const narrowed = exception !== "" || partition !== "";
    const refusedOnly = element("refused").checked || narrowed;
    const kept = data.refused.place.filter((place, number) =>
      (group === "" || data.group_of_writer[data.writer[place]] === +group) &&
      (exception === "" || data.refused.exception[number] === +exception) &&
      (partition === "" || partitions[data.refused.evidence[number]] === namesOfPartitions[+partition]));
    const wanted = new Set(kept);
    kept.forEach((place) => wanted.add(data.refused.winner[refusal.get(place)]));
    const of = new Map();
    for (let i = 0; i < count; i++) {
      const inGroup = group === "" || data.group_of_writer[data.writer[i]] === +group;
      if (refusedOnly ? !wanted.has(i) : !inGroup) continue;
      if (!of.has(data.writer[i])) of.set(data.writer[i], []);
      of.get(data.writer[i]).push(i);
    }
    shown = { place: kept, of };
    state.lanes = [...of.keys()].sort((a, b) => a - b);
    const transactions = [...of.values()].reduce((sum, lane) => sum + lane.length, 0);
    element("count").textContent = `${transactions.toLocaleString("en")} transactions of ` +
      `${state.lanes.length} writers, ${kept.length.toLocaleString("en")} refused`;
    draw();
  }

  const clock = (ms) => {
    const seconds = ms / 1000, hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
    const rest = (seconds % 60).toFixed(state.to - state.from < 20000 ? 1 : 0).padStart(state.to - state.from < 20000 ? 4 : 2, "0");
    return `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
  };
  const STEPS = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 12e5, 18e5, 36e5, 72e5, 144e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];

  let width = 0, height = 0, gutter = 0, colours = {}, waiting = false;
  const x = (ms) => gutter + (ms - state.from) / (state.to - state.from) * (width - gutter);
  const ms = (px) => state.from + (px - gutter) / (width - gutter) * (state.to - state.from);
  const y = (lane) => AXIS + lane * LANE - view.scrollTop;
  const draw = () => { if (!waiting) { waiting = true; requestAnimationFrame(paint); } };

  function measure() {
    const style = getComputedStyle(document.documentElement), ratio = window.devicePixelRatio || 1;
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    colours = Object.fromEntries(["ink", "muted", "line", "paper", "committed", "aborted", "unknown", "in_flight", "blue"].map((name) => [name, colour(name)]));
    width = view.clientWidth;
    height = Math.min(HEIGHT, AXIS + Math.max(1, state.lanes.length) * LANE + 4);
    view.style.height = height + 2 + "px";  // its border
    element("space").style.height = AXIS + state.lanes.length * LANE + 4 + "px";
    canvas.style.width = width + "px"; canvas.style.height = height + "px";
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    gutter = Math.min(150, width * 0.28);
  }

  function firstAt(lane, instant) {
    let low = 0, high = lane.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[lane[middle]] < instant) low = middle + 1; else high = middle;
    }
    return Math.max(0, low - 1);
  }

  function paint() {
    waiting = false;
    measure();
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, height);
    axis();
    context.save();
    context.beginPath(); context.rect(gutter, AXIS, width - gutter, height - AXIS); context.clip();
    state.lanes.forEach((writer, lane) => { if (y(lane) > -LANE && y(lane) < height) bars(shown.of.get(writer), y(lane)); });
    links();
    context.restore();
    names();
  }

  function axis() {
    const span = state.to - state.from;
    const step = STEPS.find((each) => span / each * 90 < width - gutter) || span;
    context.font = "12px system-ui, sans-serif"; context.textBaseline = "middle"; context.textAlign = "center";
    for (let at = Math.ceil(state.from / step) * step; at <= state.to; at += step) {
      context.fillStyle = colours.line; context.fillRect(Math.round(x(at)), AXIS - 4, 1, height);
      context.fillStyle = colours.muted;
      if (x(at) > gutter + 20 && x(at) < width - 24) context.fillText(clock(at), x(at), AXIS / 2);
    }
  }

  function bars(lane, top) {
    let pixel = -1;
    for (let n = firstAt(lane, state.from); n < lane.length; n++) {
      const i = lane[n], left = x(begin[i]);
      if (left > width) break;
      const size = x(end[i]) - left, refused = data.outcome[i] === data.outcomes.indexOf("aborted");
      if (size < 1 && !refused && Math.floor(left) === pixel) continue;
      pixel = Math.floor(left);
      context.fillStyle = colours[data.outcomes[data.outcome[i]]];
      context.globalAlpha = 0.45;
      context.fillRect(left, top + 4, Math.max(1, size), LANE - 8);
      context.globalAlpha = 1;
      const commit = data.commit[i] < 0 ? size : x(begin[i] + data.commit[i]) - left;
      context.fillRect(left + Math.min(commit, size), top + 4, Math.max(1, size - commit), LANE - 8);
      if (i === state.chosen) {
        context.strokeStyle = colours.ink; context.lineWidth = 2;
        context.strokeRect(left - 1, top + 3, Math.max(3, size + 2), LANE - 6);
      }
    }
  }

  function links() {
    const lane = new Map(state.lanes.map((writer, number) => [writer, number]));
    const visible = shown.place.filter((place) => end[place] >= state.from && end[place] <= state.to);
    const drawn = visible.length > MOST_LINKS ? visible.filter((place) => place === state.chosen) : visible;
    for (const place of drawn) {
      const winner = data.refused.winner[refusal.get(place)];
      if (winner < 0 || !lane.has(data.writer[winner])) continue;
      const chosen = place === state.chosen;
      context.strokeStyle = colours.aborted; context.lineWidth = chosen ? 2.5 : 1; context.globalAlpha = chosen ? 1 : 0.6;
      const from = [x(end[place]), y(lane.get(data.writer[place])) + LANE / 2];
      const to = [x(landed(winner)), y(lane.get(data.writer[winner])) + LANE / 2];
      context.beginPath(); context.moveTo(...from); context.lineTo(...to); context.stroke();
      context.beginPath(); context.arc(...to, 2.5, 0, 7); context.fillStyle = colours.aborted; context.fill();
      if (chosen) {
        context.fillStyle = colours.ink; context.textAlign = "left"; context.font = "12px system-ui, sans-serif";
        const rule = data.refused.rules[data.refused.rule[refusal.get(place)]], name = rule ? rule.name : "";
        const room = width - context.measureText(name).width - 4;
        context.fillText(name, Math.min(from[0] + 6, room), (from[1] + to[1]) / 2);
      }
    }
    context.globalAlpha = 1;
  }

  function names() {
    context.fillStyle = colours.paper; context.fillRect(0, AXIS, gutter, height);
    context.font = "12px system-ui, sans-serif"; context.textAlign = "left"; context.fillStyle = colours.ink;
    state.lanes.forEach((writer, lane) => {
      if (y(lane) > AXIS - LANE && y(lane) < height) context.fillText(data.writers[writer], 2, y(lane) + LANE / 2, gutter - 6);
    });
    context.fillStyle = colours.paper; context.fillRect(0, 0, gutter, AXIS);
  }

  // What stands below: one transaction in words.
  function row(list, name, value) {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name; text.append(value);
    list.append(term, text);
  }
  function choose(place) {
    state.chosen = place;
    const list = document.createElement("dl"), title = document.createElement("h3");
    const tries = data.rerun[place] ? `, rerun ${data.rerun[place]}` : "";
    title.textContent = `${data.writers[data.writer[place]]}: ${data.commands[data.command[place]]}, job ${data.job[place]}${tries}`;
    row(list, "When", `${clock(begin[place])} to ${data.length[place] < 0 ? "the end of the run" : clock(end[place])}`);
    row(list, "Read", `version ${data.read[place]}`);
    const outcome = data.outcomes[data.outcome[place]];
    const words = { committed: `committed version ${data.version[place]}`, in_flight: "still under way" };
    row(list, "Outcome", (words[outcome] || outcome) + (data.attempts[place] > 1 ? `, ${data.attempts[place]} attempts` : ""));
    const number = refusal.get(place);
    if (number !== undefined) refusedBy(list, number);
    detail.replaceChildren(title, list);
    draw();
  }
  function refusedBy(list, number) {
    const refused = data.refused, rule = refused.rules[refused.rule[number]];
    row(list, "Exception", refused.exceptions[refused.exception[number]] || "");
    if (rule) { row(list, "Rule", `${rule.name}: ${rule.sentence}`); row(list, "Source", rule.source); }
    if (refused.evidence[number] >= 0) row(list, "Evidence", refused.evidences[refused.evidence[number]]);
    const winner = refused.winner[number];
    if (winner < 0) { if (refused.winning[number] >= 0) row(list, "Refused by", `version ${refused.winning[number]}`); return; }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${data.writers[data.writer[winner]]}, version ${data.version[winner]}`;
    button.onclick = () => { look(winner); choose(winner); };
    row(list, "Refused by", button);
  }

  function move(from, span) {
    span = Math.min(last, Math.max(LEAST_SPAN, span));
    state.from = Math.min(Math.max(0, from), last - span);
    state.to = state.from + span;
    draw();
  }
  const zoom = (factor, at = (state.from + state.to) / 2) => {
    const span = (state.to - state.from) * factor;
    move(at - (at - state.from) * factor, span);
  };
  function look(place) {
    const span = Math.min(state.to - state.from, Math.max(LEAST_SPAN, 12 * (end[place] - begin[place])));
    move((begin[place] + end[place]) / 2 - span / 2, span);
    const lane = state.lanes.indexOf(data.writer[place]);
    if (lane * LANE < view.scrollTop || (lane + 2) * LANE > view.scrollTop + height) view.scrollTop = lane * LANE - height / 2;
  }
  function step(by) {
    const places = shown.place;
    if (!places.length) return;
    const here = places.indexOf(state.chosen);
    const next = here < 0
      ? Math.max(0, places.findIndex((place) => end[place] >= state.from))
      : (here + by + places.length) % places.length;
    look(places[next]); choose(places[next]);
  }
  function hit(event) {
    const lane = state.lanes[Math.floor((event.offsetY - AXIS + view.scrollTop) / LANE)];
    if (lane === undefined) return -1;
    const at = ms(event.offsetX), slack = (state.to - state.from) / width * 4;
    return shown.of.get(lane).findLast((i) => begin[i] - slack <= at && at <= end[i] + slack) ?? -1;
  }

  let drag = null;
  canvas.onpointerdown = (event) => { drag = { x: event.offsetX, from: state.from, moved: false }; canvas.setPointerCapture(event.pointerId); };
  canvas.onpointermove = (event) => {
    if (!drag) return;
    const by = (event.offsetX - drag.x) / (width - gutter) * (state.to - state.from);
    drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
    if (drag.moved) move(drag.from - by, state.to - state.from);
  };
  canvas.onpointerup = (event) => {
    const moved = drag && drag.moved;
    drag = null;
    const place = moved ? -1 : hit(event);
    if (place >= 0) choose(place);
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && !event.shiftKey) return;
    event.preventDefault();
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, ms(event.offsetX));
    else move(state.from + (event.deltaX || event.deltaY) / width * (state.to - state.from), state.to - state.from);
  }, { passive: false });
  canvas.onkeydown = (event) => {
    const span = state.to - state.from;
    const does = {
      ArrowLeft: () => move(state.from - span / 8, span), ArrowRight: () => move(state.from + span / 8, span),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => move(0, last),
      n: () => step(1), N: () => step(1), p: () => step(-1), P: () => step(-1),
    }[event.key];
    if (does) { event.preventDefault(); does(); }
  };
  element("in").onclick = () => zoom(0.5);
  element("out").onclick = () => zoom(2);
  element("all").onclick = () => move(0, last);
  element("next").onclick = () => step(1);
  element("previous").onclick = () => step(-1);
  for (const name of ["group", "exception", "partition", "refused"]) element(name).onchange = filter;
  view.onscroll = draw;
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  filter();
})();
