#!/usr/bin/python3
"""The look of the dashboard: a job of 1,000 ranks, and texts that are readable
in bright and in dark colours."""

import os
import subprocess
import sys

from selenium.webdriver.common.by import By

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, 'python'))

import xml_main
from dashboard_case import DashboardCase
from until import until

_MANY_RANKS = os.path.realpath('tests/dashboard/many_ranks')
_JOB = 'llama-70b'
_RANKS = 1000
# As in many_ranks.cc.
_LAST_RANK = 613
_LAST_LAG = 40
_SILENT_RANK = 250
_QUIET_RANKS = range(720, 728)

# The least contrast of a text and its background: level AA of the Web Content
# Accessibility Guidelines.
_LEAST_CONTRAST = 4.5

# Shows all parts of the page at the same time, and adds to the grid a cell in
# each state and in each level of lag, and to the title a pill in each tone.
_SHOW_ALL = '''
for (const one of document.querySelectorAll('[hidden]')) one.hidden = false;
for (const id of ['live', 'refusal', 'elsewhere', 'output-state', 'output-title',
                  'output-note', 'verdict-message']) {
  byId(id).textContent = id;
}
byId('lines').replaceChildren(...['stdout', 'stderr', 'remark'].map(
  (name) => element('div', name, name)));
for (const tone of ['good', 'bad', 'warn', 'plain']) {
  byId('state').after(element('span', tone, 'pill ' + tone));
}
byId('live').className = 'lost';
for (const [state, [sign]] of Object.entries(kStates)) {
  byId('grid').append(element('div', sign, 'cell ' + state));
}
for (let level = 0; level < 10; ++level) {
  const cell = element('div', String(level),
                       'cell lag' + (level >= kFarLag ? ' far' : ''));
  cell.style.background = `rgba(var(--lag), ${lagOpacity(level)})`;
  byId('grid').append(cell);
}
'''

# Returns for each element with a text of its own: what it is, the text, its
# contrast. The background is that of the nearest elements below the text, the
# transparent ones mixed.
_CONTRASTS = '''
const numbers = (color) => {
  const list = color.match(/[\\d.]+/g).map(Number);
  return list.length === 4 ? list : [...list, 1];
};
const backgroundOf = (element) => {
  let result = [0, 0, 0, 0];
  for (let at = element; at && result[3] < 1; at = at.parentElement) {
    const [r, g, b, a] = numbers(getComputedStyle(at).backgroundColor);
    const rest = 1 - result[3];
    result = [r, g, b].map((value, i) => result[i] + value * a * rest)
      .concat(result[3] + a * rest);
  }
  if (result[3] < 1) throw new Error('no background below ' + element.outerHTML);
  return result;
};
const luminance = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const found = [];
for (const one of document.body.querySelectorAll('*')) {
  const text = [...one.childNodes].filter((node) => node.nodeType === 3)
    .map((node) => node.nodeValue.trim()).join(' ').trim();
  if (text === '' || ['SCRIPT', 'NOSCRIPT', 'CODE'].includes(one.tagName)) {
    continue;
  }
  const style = getComputedStyle(one);
  const isDrawn = one instanceof SVGElement;
  // The number of a round stands on the bar that was drawn before it.
  const below = one.classList.contains('on')
    ? numbers(getComputedStyle(one.previousElementSibling).fill)
    : backgroundOf(isDrawn ? one.closest('.chart') : one);
  const name = `${one.tagName.toLowerCase()}.${one.className.baseVal ??
                one.className}#${one.id}`;
  found.push([name, text, contrast(
    numbers(isDrawn ? style.fill : style.color), below)]);
}
return found;
'''


class Look(DashboardCase):

  def setUp(self):
    super().setUp()
    self.url, self.endpoint = self.daemon()
    self.agents = subprocess.Popen(
        [_MANY_RANKS, self.endpoint.rpartition(':')[2], _JOB],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    self.addCleanup(self.stop_agents)
    self.assertEqual(self.agents.stdout.readline(), 'running\n')
    self.step = 0
    self.make_steps(200)

  def stop_agents(self):
    self.agents.kill()
    self.agents.communicate()

  def make_steps(self, number):
    self.step += number
    self.agents.stdin.write(f'{self.step}\n')
    self.agents.stdin.flush()
    self.assertEqual(self.agents.stdout.readline(), f'reported {self.step}\n')

  def emulate(self, scheme):
    self.browser.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})

  def show_ranks(self):
    self.show(self.url)
    until('all ranks are shown', lambda: len(self.browser.states()) == _RANKS)
    self.await_step()

  def shown_step(self):
    return self.browser.driver.execute_script(
        'return Math.max(...grid.ranks.map((one) => '
        'one.progress ? one.progress.step : 0))')

  def await_step(self):
    until('the page has the newest step',
          lambda: self.shown_step() == self.step)

  def choose(self, rank):
    self.browser.driver.find_element(By.ID, f'rank-{rank}').click()

  def test_a_thousand_ranks(self):
    browser = self.browser
    self.show_ranks()
    # On a busy machine some agents report late.
    until('all other ranks run', lambda: browser.states().count('running') ==
          _RANKS - 1 - len(_QUIET_RANKS))
    states = browser.states()
    self.assertEqual(states[_SILENT_RANK], 'silent')
    self.assertEqual({states[rank] for rank in _QUIET_RANKS}, {'unheard'})
    # Until the user selects a rank, the page shows the most urgent one, which is
    # the silent rank here.
    self.assertEqual(browser.field('rank', 'rank'), str(_SILENT_RANK))
    self.choose(_LAST_RANK)
    self.assertEqual(browser.field('rank', 'rank'), str(_LAST_RANK))
    self.assertEqual(browser.field('rank', 'node'), 'node-076')
    self.assertEqual(browser.field('rank', 'steps behind'), str(_LAST_LAG))
    self.assertEqual(browser.field('rank', 'waits for data'),
                     f'30.0 %, {self.step * 0.3:.0f}s'.replace('60s', '1m 00s'))
    self.assertEqual(len(browser.rows('node-rows')), _RANKS // 8)
    browser.driver.find_element(By.CSS_SELECTOR, 'input[value=lag]').click()
    shown = browser.driver.execute_script(
        'return grid.cells.map((cell) => cell.textContent)')
    self.assertEqual(shown[_LAST_RANK], str(_LAST_LAG.bit_length()))
    self.assertEqual(shown[_LAST_RANK + 1], '0')
    self.assertEqual({shown[rank] for rank in _QUIET_RANKS}, {'·'})
    browser.save_picture('dashboard_1000_ranks', 'rank')

  def test_an_update_of_a_thousand_ranks_changes_little(self):
    browser = self.browser
    self.show_ranks()
    # Wait for all that appears later: the hint of the charts, the time line.
    until('the charts are drawn', lambda: browser.driver.execute_script(
        'return document.querySelectorAll("#charts svg path.line").length'
    ) == 3)
    before = browser.driver.execute_script('''
      window.added = 0;
      new MutationObserver((changes) => {
        for (const one of changes) {
          window.added += [...one.addedNodes].filter(
            (node) => node.nodeType === 1 && !byId('charts').contains(node) &&
            !byId('timeline').contains(node)).length;
        }
      }).observe(document.body, {childList: true, subtree: true});
      window.updates = 0;
      const show = view.showJob;
      view.showJob = function(job) { ++window.updates; show.call(this, job); };
      return document.querySelectorAll('*').length''')
    # The page has 1,000 cells, 125 groups of them, and 125 rows of 8 cells.
    self.assertLess(before, 3000)
    self.make_steps(1)
    self.await_step()
    self.make_steps(1)
    self.await_step()
    updates, added, now = browser.driver.execute_script(
        'return [updates, added, document.querySelectorAll("*").length]')
    self.assertGreaterEqual(updates, 2)
    # Each update makes anew the facts of the job and of a rank, the legend and
    # the ledger, and neither cells nor rows.
    self.assertLess(added / updates, 100)
    self.assertLess(abs(now - before), 100)

  def test_texts_are_readable_in_both_schemes(self):
    self.show_ranks()
    driver = self.browser.driver
    driver.execute_script('following.abort();' + _SHOW_ALL)
    backgrounds = set()
    self.addCleanup(self.emulate, 'light')
    for scheme in ('light', 'dark'):
      self.emulate(scheme)
      backgrounds.add(driver.execute_script(
          'return getComputedStyle(document.body).backgroundColor'))
      found = driver.execute_script(_CONTRASTS)
      names = {name for name, _, _ in found}
      self.assertLessEqual({
          'a.#home', 'span.lost#live', 'p.#reason', 'dt.#', 'th.#',
          'span.pill bad#', 'div.cell failed#', 'div.cell stopping#',
          'div.cell lag#', 'div.cell lag far#', 'text.#', 'text.on#',
          'div.remark#'}, names)
      pale = {name + ': ' + text[:30] + f': {contrast:.2f}'
              for name, text, contrast in found if contrast < _LEAST_CONTRAST}
      self.assertEqual(pale, set(), scheme)
    self.assertEqual(len(backgrounds), 2)


if __name__ == '__main__':
  xml_main.main()
