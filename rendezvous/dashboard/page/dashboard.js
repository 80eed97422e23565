'use strict';
// The dashboard. All texts from the coordinator are set as textContent, because
// names of jobs and hosts may be hostile.

const byId = (id) => document.getElementById(id);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  if (text !== undefined) made.textContent = text;
  return made;
}

// --- Functions that format values as texts.

// The same forms as `launch status` has: 0.04s, 7.5s, 2m 03s, 5h 07m, 3d 04h.
function durationText(seconds) {
  const s = Math.max(0, seconds);
  const two = (value) => String(Math.floor(value)).padStart(2, '0');
  if (s < 1) return (Math.floor(s * 100) / 100).toFixed(2) + 's';
  if (s < 60) return (Math.floor(s * 10) / 10).toFixed(1) + 's';
  if (s < 3600) return `${Math.floor(s / 60)}m ${two(s % 60)}s`;
  if (s < 86400) return `${Math.floor(s / 3600)}h ${two(s % 3600 / 60)}m`;
  return `${Math.floor(s / 86400)}d ${two(s % 86400 / 3600)}h`;
}

function numberText(value) {
  if (typeof value !== 'number') return String(value);  // text "nan" or "inf"
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e10) return value.toExponential(2);
  if (size >= 1e7) return `${+(value / 1e6).toFixed(1)}M`;
  if (size >= 1e5) return `${+(value / 1e3).toFixed(0)}k`;
  if (Number.isInteger(value)) return String(value);
  return size < 1e-4 ? value.toExponential(2) : String(+value.toPrecision(4));
}

const orDash = (value, text = numberText) =>
  value === null || value === undefined ? '–' : text(value);

function stateOf(job) {
  return job.verdict ? job.verdict.outcome : job.phase;
}

const toneOf = (state) =>
  ({running: 'plain', succeeded: 'good', failed: 'bad', 'timed out': 'bad'})[
    state] || 'warn';

const signOf = (state) =>
  ({running: '▶', succeeded: '✓', failed: '✗', 'timed out': '✗',
    gathering: '…', stopping: '■', cancelled: '■', preempted: '■'})[state] ||
  '•';

function showFacts(list, facts) {
  list.replaceChildren(...facts.filter((fact) => fact).map(
    ([name, value, className]) => {
      const pair = element('div', undefined, className);
      const text = element('dd', value);
      text.dataset.field = name;
      pair.append(element('dt', name), text);
      return pair;
    }));
}

function tableRow(cells) {
  const row = element('tr');
  for (const cell of cells) {
    if (cell instanceof Node) {
      const holder = element('td');
      holder.append(cell);
      row.append(holder);
    } else if (Array.isArray(cell)) {
      row.append(element('td', cell[0], cell[1]));
    } else {
      row.append(element('td', cell));
    }
  }
  return row;
}

// Makes `body` show the rows, lists of cells for tableRow without elements.
// Changes only the cells whose texts have changed: a table of many nodes is
// updated every second.
function updateRows(body, rows) {
  while (body.rows.length > rows.length) body.lastElementChild.remove();
  rows.forEach((cells, i) => {
    const row = body.rows[i];
    if (!row) {
      body.append(tableRow(cells));
      return;
    }
    cells.forEach((cell, j) => {
      const [text, className] = Array.isArray(cell) ? cell : [cell, ''];
      const holder = row.cells[j];
      if (holder.textContent !== text) holder.textContent = text;
      if (holder.className !== className) holder.className = className;
    });
  });
}

// --- Ranks.

// Seconds of silence after which a rank counts as silent, if the rank has
// reported no deadline of its own.
const kLongSilence = 10;

const kStates = {
  running: ['R', 'running'],
  unheard: ['·', 'running, reports nothing'],
  silent: ['?', 'silent'],
  stopping: ['S', 'stopping'],
  done: ['✓', 'succeeded'],
  failed: ['X', 'failed'],
  lost: ['D', 'node disconnected'],
  ended: ['–', 'ended'],
  waiting: ['W', 'waiting'],
};

function rankState(job, node, rank, said) {
  const verdict = job.verdict;
  if (verdict && verdict.cause && verdict.cause.rank === rank) return 'failed';
  if (node.phase === 'succeeded') return 'done';
  if (verdict) return verdict.outcome === 'succeeded' ? 'done' : 'ended';
  if (!node.connected) return 'lost';
  if (node.phase === 'stopping') return 'stopping';
  if (node.phase !== 'running') return 'waiting';
  if (!said) return 'unheard';
  const limit = said.deadline_seconds === null ? kLongSilence
    : said.deadline_seconds / 2;
  return said.silent_seconds >= limit ? 'silent' : 'running';
}

function ranksOf(job) {
  const ranks = [];
  let first = 0;
  for (const node of job.nodes) {
    if (node.group_rank === null) continue;
    const said = new Map(node.progress.map((one) => [one.local_rank, one]));
    for (let local = 0; local < node.slots; ++local) {
      const rank = first + local;
      const progress = said.get(local) || null;
      ranks.push({rank, local, node, progress,
                  state: rankState(job, node, rank, progress)});
    }
    first += node.slots;
  }
  const steps = ranks.map((one) => one.progress && one.progress.step)
    .filter((step) => typeof step === 'number');
  const front = steps.reduce((a, b) => Math.max(a, b), 0);
  for (const one of ranks) {
    const step = one.progress ? one.progress.step : null;
    one.behind = typeof step === 'number' ? front - step : null;
  }
  return ranks;
}

// The opacity of the colour of a lag level, see lagLevel. There are none between
// 0.5 and 0.9: neither dark nor bright text is readable on such a colour.
const lagOpacity = (level) =>
  level < kFarLag ? 0.05 + 0.07 * level : 0.9 + 0.05 * (level - kFarLag);
const kFarLag = 7;  // the first level whose colour is nearly opaque

// The colour level of a rank that is `behind` steps behind the most advanced
// rank: 0 if `behind` is 0, else the number of its binary digits, at most 9.
const lagLevel = (behind) =>
  Math.min(9, behind === 0 ? 0 : Math.floor(Math.log2(behind)) + 1);

const grid = {
  layout: '',
  cells: [],
  ranks: [],
  chosen: null,  // index of the rank that the user has chosen; null: none

  show(job) {
    this.ranks = ranksOf(job);
    byId('ranks').hidden = this.ranks.length === 0;
    if (this.ranks.length === 0) return;
    byId('ranks').classList.toggle('many', this.ranks.length > 128);
    const layout = this.ranks.map((one) => one.node.node_id + one.local).join();
    if (layout !== this.layout) this.build(layout);
    this.update();
  },

  build(layout) {
    this.layout = layout;
    this.cells = [];
    const groups = [];
    let group = null;
    for (const one of this.ranks) {
      if (one.local === 0) {
        group = element('div', undefined, 'group');
        const columns = Math.min(8, one.node.slots);
        group.style.gridTemplateColumns = `repeat(${columns}, var(--cell))`;
        group.setAttribute('role', 'group');
        group.setAttribute('aria-label', one.node.node_id);
        groups.push(group);
      }
      const cell = element('div', '', 'cell');
      cell.id = `rank-${one.rank}`;
      cell.setAttribute('role', 'option');
      cell.dataset.rank = one.rank;
      this.cells.push(cell);
      group.append(cell);
    }
    byId('grid').replaceChildren(...groups);
  },

  // The index of the rank whose details are shown: the chosen one, or else the
  // one that needs attention most.
  shown() {
    if (this.chosen !== null) {
      return Math.min(this.chosen, this.ranks.length - 1);
    }
    const urgent = ['failed', 'lost', 'silent'].map((state) =>
      this.ranks.findIndex((one) => one.state === state)).find((i) => i >= 0);
    if (urgent !== undefined) return urgent;
    return this.ranks.reduce((worst, one, i) =>
      (one.behind || 0) > (this.ranks[worst].behind || 0) ? i : worst, 0);
  },

  update() {
    const shown = this.shown();
    const isLag = document.querySelector('#views input:checked').value === 'lag';
    const isMany = this.ranks.length > 128;
    this.ranks.forEach((one, i) => {
      const cell = this.cells[i];
      const level = one.behind === null ? null : lagLevel(one.behind);
      let text = kStates[one.state][0];
      if (isLag) {
        text = one.behind === null ? '·'
          : isMany ? String(level) : numberText(one.behind);
      }
      const isTinted = isLag && level !== null;
      const className = 'cell ' + (isLag ? 'lag' : one.state) +
        (isTinted && level >= kFarLag ? ' far' : '') +
        (i === shown ? ' chosen' : '');
      const tint = isTinted
        ? `rgba(var(--lag), ${lagOpacity(level).toFixed(2)})` : '';
      if (cell.textContent !== text) cell.textContent = text;
      if (cell.className !== className) cell.className = className;
      if (cell.style.background !== tint) cell.style.background = tint;
      if (cell.dataset.state !== one.state) cell.dataset.state = one.state;
      const label = `rank ${one.rank}: ${kStates[one.state][1]}` +
        (one.behind > 0 ? `, ${one.behind} steps behind` : '');
      if (cell.ariaLabel !== label) cell.ariaLabel = label;
      const selected = i === shown ? 'true' : 'false';
      if (cell.ariaSelected !== selected) cell.ariaSelected = selected;
    });
    byId('grid').setAttribute('aria-activedescendant',
                              `rank-${this.ranks[shown].rank}`);
    this.showLegend(isLag, isMany);
    this.showRank(this.ranks[shown]);
    if (this.chosen !== null) {
      output.follow(view.job.run_id, this.ranks[shown].rank);
    }
  },

  showLegend(isLag, isMany) {
    const legend = byId('legend');
    if (isLag) {
      legend.textContent = isMany
        ? 'Steps behind the first rank: 0 none, 1 one, 2 up to 3, 3 up to 7, ' +
          '4 up to 15, and so on; · reports no step'
        : 'Steps behind the first rank; · reports no step';
      return;
    }
    const counts = new Map();
    for (const one of this.ranks) {
      counts.set(one.state, (counts.get(one.state) || 0) + 1);
    }
    legend.replaceChildren(...Object.keys(kStates)
      .filter((state) => counts.has(state)).map((state) => {
        const entry = element('span');
        entry.append(element('b', kStates[state][0], state),
                     `${kStates[state][1]}: ${counts.get(state)}`);
        entry.dataset.count = state;
        return entry;
      }));
  },

  showRank(one) {
    const said = one.progress || {};
    const times = said.seconds || {};
    const divided = said.collectives_seconds || {};
    const total = Object.values(times).reduce((sum, s) => sum + s, 0);
    const share = (name, s) => s === undefined ? null
      : [name, `${(total > 0 ? 100 * s / total : 0).toFixed(1)} %, ` +
               durationText(s)];
    showFacts(byId('rank'), [
      ['rank', String(one.rank)],
      ['rank’s state', kStates[one.state][1]],
      ['node', one.node.node_id],
      ['local rank', String(one.local)],
      ['step', orDash(said.step)],
      ['steps behind', orDash(one.behind)],
      ['loss', orDash(said.loss)],
      ['tokens/s', orDash(said.tokens_per_s)],
      ['last report', orDash(said.silent_seconds,
                             (s) => durationText(s) + ' ago')],
      share('own work', times.work),
      share('waits for data', times.data),
      share('in collectives', times.collectives),
      share('waits for ranks', divided.wait),
      share('transfers', divided.transfer),
      said.status ? ['status', said.status] : null,
    ]);
  },

  choose(index) {
    this.chosen = Math.max(0, Math.min(this.ranks.length - 1, index));
    this.update();
    this.cells[this.chosen].scrollIntoView({block: 'nearest'});
  },

  // Returns the index of the nearest rank in the row above (`direction` -1) or
  // below (1).
  inRow(direction) {
    let best = this.shown();
    const here = this.cells[best].getBoundingClientRect();
    let least = Infinity;
    this.cells.forEach((cell, i) => {
      const there = cell.getBoundingClientRect();
      const down = (there.top - here.top) * direction;
      if (down < here.height / 2) return;
      const distance = down * 1000 + Math.abs(there.left - here.left);
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  },

  onKey(event) {
    const targets = {
      ArrowRight: () => this.shown() + 1, ArrowLeft: () => this.shown() - 1,
      ArrowDown: () => this.inRow(1), ArrowUp: () => this.inRow(-1),
      Home: () => 0, End: () => this.ranks.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.choose(targets[event.key]());
  },
};

// --- The output of the chosen rank.

const kMaxLines = 50, kMaxCharacters = 16384;

// Returns the text of a line as `launch logs` prints it: without escape
// sequences and control characters. Characters that are invisible or change the
// order of others become visible as <U+XXXX>.
function plainLine(text) {
  return text
    .replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|$)/g, '')
    .replace(/(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\|$)?/g,
             '')
    .replace(/\x1b[ -/]*[0-~]?/g, '')
    .replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, '')
    .replace(/[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu,
             (one) => '<U+' + one.codePointAt(0).toString(16).toUpperCase()
               .padStart(4, '0') + '>');
}

const output = {
  jobId: null,
  rank: null,      // the rank whose output is shown; null: none
  reading: null,   // AbortController of the stream that is read; null: none
  lines: [],       // the HTML elements of the output lines that are shown
  characters: 0,
  round: null,     // the round of the newest line

  follow(jobId, rank) {
    if (this.jobId === jobId && this.rank === rank) return;
    this.close();
    [this.jobId, this.rank] = [jobId, rank];
    byId('output').hidden = false;
    byId('output-hint').hidden = true;
    byId('output-title').textContent = `Output of rank ${rank}`;
    this.clear();
    this.start();
  },

  close() {
    this.stop();
    this.jobId = this.rank = null;
    byId('output').hidden = true;
    byId('output-hint').hidden = false;
  },

  // Reads the output of the chosen rank, unless the page is in a hidden tab.
  start() {
    if (this.rank === null || this.reading || document.hidden) return;
    this.reading = new AbortController();
    this.read(this.jobId, this.rank, this.reading.signal);
  },

  stop() {
    if (this.reading) this.reading.abort();
    this.reading = null;
  },

  clear() {
    this.lines = [];
    this.characters = 0;
    this.round = null;
    byId('lines').replaceChildren();
    byId('output-note').textContent = '';
  },

  tell(text) {
    if (byId('output-state').textContent !== text) {
      byId('output-state').textContent = text;
    }
  },

  async read(jobId, rank, signal) {
    const path = `/api/output?id=${encodeURIComponent(jobId)}&rank=${rank}`;
    this.tell('connecting');
    // Wait briefly before the output of this rank is requested, because the
    // user may only pass this rank on the way to another one.
    await wait(0.15, signal);
    while (!signal.aborted) {
      let isFresh = true;
      let isOver = false;
      try {
        await readEvents(path, signal, (name, data) => {
          if (signal.aborted) return;
          if (name === 'opened') {
            this.clear();
            this.tell('live, stderr is marked');
          }
          if (name === 'waiting') {
            this.tell(JSON.parse(data).text || 'live, stderr is marked');
          }
          if (name === 'output') this.add(JSON.parse(data), isFresh);
          if (name === 'output') isFresh = false;
          isOver = isOver || name === 'over';
        });
        if (isOver) {
          this.tell('the output has ended');
          return;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.tell(error.message);
        if (error.status && error.status !== 503) return;
        await wait(4, signal);
      }
      await wait(1, signal);
    }
  },

  add(news, isFresh) {
    const holder = byId('lines');
    const isAtEnd =
      holder.scrollTop + holder.clientHeight >= holder.scrollHeight - 8;
    if (news.dropped > 0 && !isFresh) {
      this.append(`${news.dropped} lines came too fast to be shown`, 'remark');
    }
    for (const line of news.lines) {
      if (this.round !== null && this.round !== line.round) {
        this.append(`round ${line.round}`, 'remark');
      }
      this.round = line.round;
      this.append(plainLine(line.text), line.stream);
    }
    while (this.lines.length > kMaxLines || this.characters > kMaxCharacters) {
      const oldest = this.lines.shift();
      this.characters -= oldest.textContent.length;
      oldest.remove();
    }
    if (isAtEnd) holder.scrollTop = holder.scrollHeight;
    if (news.note !== '') {
      byId('output-note').textContent = plainLine(news.note);
    }
  },

  append(text, className) {
    const line = element('div', text, className);
    this.lines.push(line);
    this.characters += text.length;
    byId('lines').append(line);
  },
};

// --- Charts.

// Returns about `count` evenly spaced values from `low` to `high` for the
// labels of an axis. They are multiples of 1, 2 or 5 times a power of ten.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const list = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9;
       at += step) {
    list.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  }
  return list;
}

// Ticks of a time axis in seconds, at whole units.
function timeTicks(high, count) {
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600,
                 43200, 86400, 172800, 604800];
  const step = steps.find((s) => high / s <= count) || 2592000;
  const list = [];
  for (let at = 0; at <= high; at += step) list.push(at);
  return list;
}

const kLeft = 52, kRight = 10, kTop = 18, kBottom = 18;

function timeAxis(svg, x, end, width, bottom) {
  for (const at of timeTicks(end, Math.max(2, Math.floor(width / 90)))) {
    const text = at === 0 ? '0'
      : durationText(at).replace(/ 00[sm h]*$/, '').replace('.0s', 's');
    svg.append(drawn('text', {x: x(at), y: bottom + 14,
                              'text-anchor': at === 0 ? 'start' : 'middle'},
                     text));
  }
}

// Draws the points (times[i], values[i]). `floor`: the axis begins at the
// smallest of these values or below.
function lineChart(holder, times, values, title, floor) {
  const points = times.map((at, i) => [at, values[i]])
    .filter(([, value]) => typeof value === 'number');
  if (points.length === 0) {
    holder.replaceChildren(element('p', 'Nothing reported yet.'));
    return;
  }
  const width = Math.max(240, holder.clientWidth), height = 150;
  const svg = drawn('svg', {viewBox: `0 0 ${width} ${height}`, height,
                            role: 'img'});
  let low = Math.min(...points.map(([, v]) => v), ...floor);
  let high = Math.max(...points.map(([, v]) => v));
  if (low === high) [low, high] = [low - (Math.abs(low) || 1) * .1,
                                   high + (Math.abs(high) || 1) * .1];
  const end = Math.max(times[times.length - 1], 1);
  const bottom = height - kBottom;
  const x = (at) => kLeft + (width - kLeft - kRight) * at / end;
  const y = (v) => bottom - (bottom - kTop) * (v - low) / (high - low);
  for (const value of ticks(low, high, 3)) {
    svg.append(drawn('line', {class: 'rule', x1: kLeft, x2: width - kRight,
                              y1: y(value), y2: y(value)}),
               drawn('text', {x: kLeft - 6, y: y(value) + 4,
                              'text-anchor': 'end'}, numberText(value)));
  }
  timeAxis(svg, x, end, width, bottom);
  // A missing value interrupts the chart's line.
  let path = '';
  let isDown = false;
  times.forEach((at, i) => {
    const value = values[i];
    if (typeof value !== 'number') {
      isDown = false;
      return;
    }
    path += `${isDown ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
  });
  svg.append(drawn('path', {class: 'line', d: path}));
  const dot = drawn('circle', {class: 'dot', r: 3.5});
  const readout = drawn('text', {class: 'value', y: 11, x: width - kRight,
                                 'text-anchor': 'end'});
  const point = ([at, value]) => {
    dot.setAttribute('cx', x(at));
    dot.setAttribute('cy', y(value));
    readout.textContent = `${numberText(value)} at ${durationText(at)}`;
  };
  const newest = points[points.length - 1];
  point(newest);
  svg.append(dot, readout);
  svg.setAttribute('aria-label',
                   `${title}: from ${numberText(points[0][1])} at ` +
                   `${durationText(points[0][0])} to ${numberText(newest[1])} ` +
                   `at ${durationText(newest[0])}`);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) * width / box.width - kLeft) * end /
      (width - kLeft - kRight);
    point(points.reduce((a, b) =>
      Math.abs(a[0] - at) <= Math.abs(b[0] - at) ? a : b));
  });
  svg.addEventListener('pointerleave', () => point(newest));
  holder.replaceChildren(svg);
}

const kPhases = ['gathering', 'running', 'stopping', 'finished'];

function showTimeline(job, history) {
  const holder = byId('timeline');
  const spans = history ? history.spans : [];
  if (spans.length === 0) {
    holder.replaceChildren();
    return;
  }
  const width = Math.max(240, holder.clientWidth), height = 66;
  const svg = drawn('svg', {viewBox: `0 0 ${width} ${height}`, height,
                            role: 'img'});
  const isOver = spans[spans.length - 1][1] === 'finished';
  const end = Math.max(1, isOver ? spans[spans.length - 1][2]
    : Math.max(spans[spans.length - 1][3], job.age_seconds));
  const x = (at) => 2 + (width - 4) * at / end;
  const causes = new Map(job.time.newest_interruptions.map(
    (one) => [one.round, one]));
  spans.forEach(([round, phase, from, to], i) => {
    if (phase === 'finished') return;
    const last = i === spans.length - 1 ? end : to;
    const wide = Math.max(1, x(last) - x(from));
    svg.append(drawn('rect', {class: `span ${phase}`, x: x(from), y: 18,
                              width: wide, height: phase === 'running' ? 24 : 12,
                              'data-round': round}));
    if (phase === 'running' && wide > 8 * String(round).length + 8) {
      svg.append(drawn('text', {class: 'on', x: x(from) + wide / 2, y: 34,
                                'text-anchor': 'middle'}, String(round)));
    }
    if (phase === 'running' && causes.has(round)) {
      svg.append(drawn('text', {class: 'cause', x: Math.min(x(last), width - 8),
                                y: 13, 'text-anchor': 'middle'}, '▼'));
    }
  });
  timeAxis(svg, x, end, width, 46);
  svg.setAttribute('aria-label', `${spans.length} phases in ` +
                   `${durationText(end)}; the table below has the causes`);
  holder.replaceChildren(svg);
  byId('phase-legend').replaceChildren(
    ...kPhases.slice(0, 3).map((phase) => {
      const entry = element('span');
      entry.append(element('i', undefined, phase),
                   phase === 'running' ? 'running (high bar, with the round)'
                     : phase);
      return entry;
    }),
    element('span', '▼ interrupted'),
    element('span', history.spans_dropped > 0
      ? `${history.spans_dropped} older phases are not shown` : ''));
}

// --- The parts of the page that show one job.

function showFactsOf(job) {
  const members = job.nodes.filter((node) => node.group_rank !== null);
  const spares = job.nodes.length - members.length;
  const wanted = job.min_nodes === job.max_nodes ? `${job.min_nodes}`
    : `${job.min_nodes} to ${job.max_nodes}`;
  showFacts(byId('facts'), [
    ['round', String(job.round)],
    ['in this phase', durationText(job.phase_age_seconds)],
    ['age', durationText(job.age_seconds)],
    ['workers', String(job.world_size)],
    ['nodes', `${members.length} of ${wanted}`],
    spares > 0 ? ['spares', String(spares)] : null,
    ['restarts', `${job.restarts_used} of ${job.max_restarts}`],
    job.master_address
      ? ['master', `${job.master_address}:${job.master_port}`] : null,
    job.preemption && !job.verdict
      ? ['preempted', `${job.preemption.signal} at ${job.preemption.host}, ` +
         `${durationText(job.preemption.seconds_left)} left`] : null,
    job.not_durable
      ? ['journal', `not durable for ${durationText(job.not_durable.seconds)}: ` +
         job.not_durable.reason] : null,
    lossText(job) !== '' ? ['loss', lossText(job), 'wide'] : null,
    job.slow_ranks.length > 0
      ? ['slow ranks', slowRanksText(job), 'wide'] : null,
  ]);
}

// Lists the ranks whose loss is NaN or infinite, because the chart cannot show
// such a loss; '' if there are none.
function lossText(job) {
  const bad = job.nodes.flatMap((node) => node.progress)
    .filter((said) => typeof said.loss === 'string');
  const first = bad.slice(0, 8).map((said) => `${said.loss} at rank ${said.rank}`);
  return first.join(', ') +
    (bad.length > first.length ? ` and at ${bad.length - first.length} more` : '');
}

function slowRanksText(job) {
  const ranks = job.slow_ranks.map((slow) =>
    `${slow.rank} (${slow.host}, local rank ${slow.local_rank}` +
    (slow.gpu ? `, GPU ${slow.gpu}): ` : '): ') +
    `${slow.phase}, ${slow.ratio.toFixed(2)} × ` +
    (slow.phase === 'network' ? 'the other links' : 'the median') +
    (slow.max_gain === null ? ''
      : `, a step up to ${Math.round(100 * slow.max_gain)} % shorter without`) +
    (slow.persistent ? '' : ', for now'));
  // If only networks are slow, show no common gain: job.slow_ranks_gain does
  // not include slow networks.
  if (job.slow_ranks.every((slow) => slow.phase === 'network')) {
    return ranks.join('; ');
  }
  return ranks.join('; ') + '; without them a step is ' +
    `${Math.round(100 * job.slow_ranks_gain)} % shorter`;
}

function showVerdict(verdict) {
  byId('verdict').hidden = !verdict;
  if (!verdict) return;
  const cause = verdict.cause;
  showFacts(byId('verdict-facts'), [
    ['outcome', verdict.outcome],
    ['exit code', String(verdict.exit_code)],
    ['lasted', durationText(verdict.seconds)],
    ['rounds', String(verdict.rounds)],
    cause ? ['host', cause.host] : null,
    cause && cause.rank >= 0
      ? ['failed rank', `${cause.rank} (local ${cause.local_rank}), ` +
         `pid ${cause.pid}`] : null,
    ['why', verdict.reason, 'wide'],
  ]);
  // Do not repeat a message that the reason already contains.
  const message = !cause ? '' : [
    verdict.reason.includes(cause.message) ? '' : cause.message,
    ...cause.stack].join('\n').trim();
  byId('verdict-message').hidden = message === '';
  byId('verdict-message').textContent = message;
}

// Shows the number and the cost of all interruptions by cause, and the newest
// ones each with its reason.
function showInterruptions(time) {
  const causes = Object.entries(time.interruptions)
    .filter(([, sums]) => sums.count > 0)
    .map(([cause, sums]) =>
      `${cause} ${sums.count} (${durationText(sums.lost_seconds)})`);
  byId('causes').hidden = causes.length === 0;
  byId('causes').textContent =
    `Interruptions by cause: ${causes.join(', ')}`;
  const list = time.newest_interruptions;
  byId('interruptions').hidden = list.length === 0;
  byId('interruption-rows').replaceChildren(...list.map((one) => tableRow([
    String(one.round), one.cause, one.host || '–', [one.reason, 'text'],
    durationText(one.lost_seconds)])).reverse());
}

function showLedger(time) {
  const spent = Object.entries(time.node_seconds).filter(([, s]) => s > 0);
  const total = spent.reduce((sum, [, s]) => sum + s, 0);
  byId('ledger').hidden = total === 0;
  byId('ratio').textContent =
    `${(100 * time.productive_ratio).toFixed(1)} % of ` +
    `${durationText(total)} node time was progress.`;
  byId('activities').replaceChildren(...spent.flatMap(([name, seconds]) => {
    const share = element('dd', undefined, 'share');
    const svg = drawn('svg', {viewBox: '0 0 1000 10', 'aria-hidden': 'true',
                              preserveAspectRatio: 'none'});
    svg.append(drawn('rect', {width: Math.max(2, 1000 * seconds / total),
                              height: 10, rx: 1}));
    share.append(svg);
    return [element('dt', name), share, element('dd', durationText(seconds)),
            element('dd', `${(100 * seconds / total).toFixed(1)} %`)];
  }));
}

function showNodes(job) {
  let first = 0;
  byId('nodes').hidden = job.nodes.length === 0;
  updateRows(byId('node-rows'), job.nodes.map((node) => {
    let ranks = '–';
    if (node.group_rank !== null) {
      const last = first + node.slots - 1;
      ranks = node.slots === 1 ? `${first}` : `${first}–${last}`;
      first += node.slots;
    }
    const notes = [];
    if (node.group_rank === null) {
      notes.push(job.world_size > 0 ? 'spare' : 'waiting');
    }
    if (node.draining) notes.push('draining');
    if (!node.connected) notes.push('disconnected');
    if (node.unhealthy) notes.push(node.unhealthy);
    if (node.judgement) {
      const state = node.judgement.state;
      notes.push(`${state === 'healthy' ? 'faults' : state}: ` +
                 node.judgement.reason);
    }
    return [
      orDash(node.group_rank, String), ranks, node.node_id, node.address,
      node.phase, [node.health, node.health === 'unhealthy' ? 'bad' : ''],
      `${durationText(node.silent_seconds)} ago`, [notes.join(', '), 'text']];
  }));
}

const view = {
  job: null,
  history: null,

  showJob(job) {
    this.job = job;
    for (const id of ['jobs', 'sign-in', 'elsewhere']) byId(id).hidden = true;
    byId('job').hidden = false;
    const state = stateOf(job);
    document.title = `${signOf(state)} ${job.run_id} – Muster`;
    byId('run-id').textContent = job.run_id;
    byId('state').textContent = `${signOf(state)} ${state}`;
    byId('state').className = `pill ${toneOf(state)}`;
    byId('state').dataset.state = state;
    byId('reason').textContent = job.reason;
    // Hide the job's reason if there is a verdict, which shows the reason.
    byId('reason').hidden = job.verdict !== null;
    showFactsOf(job);
    showVerdict(job.verdict);
    grid.show(job);
    showInterruptions(job.time);
    showLedger(job.time);
    showNodes(job);
    showTimeline(job, this.history);
  },

  showHistory(history) {
    this.history = history;
    if (!history) return;
    lineChart(byId('loss'), history.at_seconds, history.loss, 'loss', []);
    lineChart(byId('rate'), history.at_seconds, history.tokens_per_s,
              'tokens per second', [0]);
    lineChart(byId('step'), history.at_seconds, history.step, 'step', [0]);
    if (this.job) showTimeline(this.job, history);
  },

  showJobs(answer) {
    for (const id of ['job', 'sign-in']) byId(id).hidden = true;
    byId('elsewhere').hidden = answer.elsewhere === '';
    byId('elsewhere').textContent = answer.elsewhere;
    byId('jobs').hidden = answer.elsewhere !== '';
    document.title = 'Jobs – Muster';
    byId('job-rows').replaceChildren(...answer.jobs.map((job) => {
      const state = stateOf(job);
      const link = element('a', job.run_id);
      link.href = `#job=${encodeURIComponent(job.run_id)}`;
      return tableRow([
        link, [`${signOf(state)} ${state}`, toneOf(state)], String(job.round),
        String(job.world_size), `${job.restarts_used} of ${job.max_restarts}`,
        durationText(job.age_seconds), [job.reason, 'text']]);
    }));
    if (answer.jobs.length === 0) {
      byId('job-rows').replaceChildren(tableRow([['No jobs.', 'text']]));
    }
  },
};

// --- The page's connection to the server: token, requests and events.

const kTokenKey = 'muster-token';

// The token is kept for this tab and this origin only, and sent in a header. It
// may also come as #token=…, which browsers do not send to servers.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!given) return;
  sessionStorage.setItem(kTokenKey, given);
  history.replaceState(null, '', location.pathname);
}

async function ask(path, signal) {
  const token = sessionStorage.getItem(kTokenKey);
  const answer = await fetch(path, {
    cache: 'no-store', signal,
    headers: token ? {Authorization: `Bearer ${token}`} : {}});
  if (answer.ok) return answer;
  const refusal = new Error((await answer.text()).trim());
  refusal.status = answer.status;
  throw refusal;
}

function tell(text, isLost) {
  if (byId('live').textContent !== text) byId('live').textContent = text;
  byId('live').className = isLost ? 'lost' : '';
}

function showSignIn(why) {
  output.close();
  for (const id of ['jobs', 'job', 'elsewhere']) byId(id).hidden = true;
  byId('sign-in').hidden = false;
  byId('refusal').textContent =
    sessionStorage.getItem(kTokenKey) ? why : '';
  byId('token').focus();
  tell('signed out', false);
}

let seen = Date.now();  // when the newest state arrived

function onEvent(name, data) {
  seen = Date.now();
  tell('live', false);
  if (name === 'job') view.showJob(JSON.parse(data));
  if (name === 'history') view.showHistory(JSON.parse(data));
  if (name === 'jobs') view.showJobs(JSON.parse(data));
  if (name === 'gone') location.hash = '';
}

// Reads a stream of server-sent events until it ends. EventSource cannot send
// the header with the token.
async function readEvents(path, signal, take) {
  const answer = await ask(path, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop();
    for (const text of events) {
      const parts = /^event: (\w+)\ndata: ([^]*)$/.exec(text);
      if (parts) take(parts[1], parts[2]);
    }
  }
}

const wait = (seconds, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, 1000 * seconds);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
});

// Reads the state once, without a stream. Used while the server has no free
// stream.
async function poll(jobId, signal) {
  const path = jobId === null ? '/api/jobs'
    : `/api/job?id=${encodeURIComponent(jobId)}`;
  const answer = await (await ask(path, signal)).json();
  tell('live, every 5 s', false);
  if (jobId === null) {
    view.showJobs(answer);
  } else {
    view.showJob(answer.job);
    view.showHistory(answer.history);
  }
}

let following = new AbortController();

async function follow(jobId, signal) {
  const path = '/api/events' +
    (jobId === null ? '' : `?id=${encodeURIComponent(jobId)}`);
  let pause = 1;
  while (!signal.aborted) {
    try {
      await readEvents(path, signal, onEvent);
      pause = 1;
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401 || error.status === 403) {
        showSignIn(error.message);
        return;
      }
      if (error.status === 404) {
        location.hash = '';
        return;
      }
      if (error.status === 503) {
        await poll(jobId, signal).catch(() => {});
        await wait(5, signal);
        continue;
      }
      tell('no connection; last state of ' +
           new Date(seen).toLocaleTimeString(), true);
      pause = Math.min(10, pause * 2);
    }
    await wait(pause, signal);
  }
}

// Shows the job that the URL names. If the URL names none, shows the list of
// jobs, or the job if there is only one.
async function open() {
  following.abort();
  following = new AbortController();
  const signal = following.signal;
  takeToken();
  view.job = view.history = null;
  grid.chosen = null;
  output.close();
  let jobId = new URLSearchParams(location.hash.slice(1)).get('job');
  while (!signal.aborted) {
    try {
      const answer = await (await ask('/api/jobs', signal)).json();
      if (jobId === null && answer.jobs.length === 1) {
        jobId = answer.jobs[0].run_id;
      }
      byId('home').textContent =
        answer.jobs.length > 1 ? 'Muster – all jobs' : 'Muster';
      break;
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401 || error.status === 403) {
        showSignIn(error.message);
        return;
      }
      tell('no connection', true);
      await wait(2, signal);
    }
  }
  follow(jobId, signal);
}

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(kTokenKey, byId('token').value.trim());
  byId('token').value = '';
  open();
});
byId('grid').addEventListener('keydown', (event) => grid.onKey(event));
byId('grid').addEventListener('click', (event) => {
  const cell = event.target.closest('.cell');
  if (cell) grid.choose(grid.cells.indexOf(cell));
});
byId('views').addEventListener('change', () => grid.update());
// When the width of the page changes, its lines wrap differently. Scroll to the
// end again, so that the page continues to follow the output.
new ResizeObserver(() => {
  byId('lines').scrollTop = byId('lines').scrollHeight;
}).observe(byId('lines'));
document.addEventListener('visibilitychange', () =>
  document.hidden ? output.stop() : output.start());
window.addEventListener('hashchange', open);
window.addEventListener('resize', () => view.showHistory(view.history));
open();
