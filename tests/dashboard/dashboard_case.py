"""The base of tests that look at the dashboard in a real Chromium."""

import base64
import json
import os
import re
import subprocess
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

LAUNCH = os.path.realpath('launcher/launch')
DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
TIMEOUT_S = 60


class Browser:
  """A Chromium, driven by chromedriver."""

  def __init__(self):
    options = webdriver.ChromeOptions()
    options.binary_location = '/usr/bin/chromium'
    # Chromium's sandbox refuses to run as root. It is not needed, because the
    # browser loads only Muster's own pages.
    for flag in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage',
                 '--disable-gpu', '--window-size=1280,1000'):
      options.add_argument(flag)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    self.driver = webdriver.Chrome(service=Service('/usr/bin/chromedriver'),
                                   options=options)

  def text(self, element_id):
    return self.driver.find_element(By.ID, element_id).text

  def is_shown(self, element_id):
    return self.driver.find_element(By.ID, element_id).is_displayed()

  def field(self, list_id, name):
    """The value of a fact; None if the page does not have it."""
    return self.driver.execute_script(
        'return [...document.querySelectorAll(`#${arguments[0]} dd`)]'
        '.filter((one) => one.dataset.field === arguments[1])'
        '.map((one) => one.textContent)[0]', list_id, name)

  def rows(self, body_id):
    return self.driver.execute_script(
        'return [...document.querySelectorAll(`#${arguments[0]} tr`)].map('
        '(row) => [...row.cells].map((cell) => cell.textContent))', body_id)

  def states(self):
    """The state of each rank."""
    return self.driver.execute_script(
        'return [...document.querySelectorAll("#grid .cell")].map('
        '(cell) => cell.dataset.state)')

  def lines(self):
    """The class and the text of each line of output."""
    return self.driver.execute_script(
        'return [...document.querySelectorAll("#lines div")].map('
        '(line) => [line.className, line.textContent])')

  def press(self, key):
    self.driver.find_element(By.ID, 'grid').send_keys(key)

  def save_picture(self, name, element_id):
    """Writes a picture of the page down to the end of an element to the folder
    that MUSTER_PICTURES names, if it is set."""
    folder = os.environ.get('MUSTER_PICTURES')
    if folder is None:
      return
    end = self.driver.execute_script(
        'window.scrollTo(0, 0);'
        'return document.getElementById(arguments[0])'
        '.getBoundingClientRect().bottom', element_id)
    picture = self.driver.execute_cdp_cmd('Page.captureScreenshot', {
        'captureBeyondViewport': True,
        'clip': {'x': 0, 'y': 0, 'width': 1280, 'height': end + 8, 'scale': 1}})
    with open(os.path.join(folder, name + '.png'), 'wb') as file:
      file.write(base64.b64decode(picture['data']))

  def complaints(self):
    """The messages of the console, without answers that a test provokes, the
    icon that the page does not have, and the answer to a request for the output
    of a rank whose worker has just ended (409)."""
    return [line['message'] for line in self.driver.get_log('browser')
            if not re.search(r'favicon\.ico|status of 401|'
                             r'/api/output\?.* status of 409',
                             line['message'])]


class DashboardCase(unittest.TestCase):
  """A test with a browser, a folder, and programs that end with the test."""

  @classmethod
  def setUpClass(cls):
    cls.browser = Browser()
    cls.addClassCleanup(cls.browser.driver.quit)

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = folder.name
    # Make the browser forget the token and the page of the previous test.
    self.browser.driver.get('about:blank')
    self.browser.complaints()

  def environment(self, token=None):
    environment = dict(os.environ, NO_COLOR='1')
    environment.pop('MUSTER_TOKEN', None)
    if token:
      environment['MUSTER_TOKEN'] = token
    return environment

  def start(self, *argv, token=None, stdout=subprocess.PIPE):
    program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdout,
                               stderr=subprocess.STDOUT, text=True,
                               env=self.environment(token), cwd=self.folder)

    def stop():
      program.kill()
      program.communicate()
    self.addCleanup(stop)
    return program

  def said(self, program, pattern):
    """Returns the first group of `pattern` in a line of the program."""
    lines = ''
    while True:
      line = program.stdout.readline()
      self.assertNotEqual(line, '', lines)
      lines += line
      found = re.search(pattern, line)
      if found:
        return found.group(1)

  def daemon(self, *flags, token=None):
    """Starts a daemon. Returns its dashboard's URL and its endpoint."""
    daemon = self.start(DAEMON, '--listen=127.0.0.1:0', '--dashboard-listen=0',
                        *flags, token=token)
    url = self.said(daemon, r'dashboard on (http://\S+)')
    return url, self.said(daemon, r'listening on ([^ ,]+)')

  def status(self, endpoint, job, token=None):
    printed = subprocess.run(
        [LAUNCH, 'status', f'--endpoint={endpoint}', f'--run-id={job}',
         '--json'], env=self.environment(token), capture_output=True,
        text=True, timeout=TIMEOUT_S)
    self.assertEqual(printed.returncode, 0, printed.stderr)
    return json.loads(printed.stdout)

  def show(self, url):
    self.browser.driver.get(url)
