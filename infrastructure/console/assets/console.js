'use strict';
// The only script of our own: what attributes of htmx cannot say.

const typing = (target) =>
  target instanceof Element && target.closest('input:not([type="checkbox"]), select, textarea') !== null;
const rows = () => [...document.querySelectorAll('[data-row]')];

/** The row after, or before, the one that has the focus. */
const move = (step) => {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? all[0] : all[at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};

const MOVES = {
  j: () => move(1),
  k: () => move(-1),
  o: () => document.activeElement?.closest('tr')?.querySelector('a')?.click(),
};

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const act =
    MOVES[event.key] ?? (() => document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click());
  act();
});

// The sum of amounts as they are typed, by the rule of `centsTyped`, which the sum brings along.
const LANGUAGE = document.documentElement.lang;
const AMOUNT = new Intl.NumberFormat(LANGUAGE, { style: 'currency', currency: 'BRL' });
const centsOf = (text, { pattern, group }) => {
  const [, whole, fraction = ''] = new RegExp(pattern).exec(text.trim()) ?? [];
  return whole === undefined
    ? NaN
    : Number(whole.replaceAll(group, '')) * 100 + Number(fraction.padEnd(2, '0'));
};
addEventListener('input', (event) => {
  if (!event.target.matches('[data-summand]')) return;
  const { form } = event.target;
  const shown = form.querySelector('[data-sum]');
  const cents = [...form.querySelectorAll('[data-summand]')].reduce(
    (sum, { value }) => sum + centsOf(value, shown.dataset),
    0,
  );
  shown.textContent = Number.isNaN(cents) ? '\u2014' : AMOUNT.format(cents / 100);
});

// How many are ticked and what they add up to; the server counts again.
const tallied = (what) => document.querySelector(`[data-tally="${what}"]`);
const tally = () => {
  if (!tallied('count')) return;
  const ticked = rows().filter(({ checked }) => checked);
  const sum = ticked.reduce((cents, { dataset }) => cents + Number(dataset.cents), 0);
  const { form } = rows()[0] ?? {};
  tallied('count').textContent = new Intl.NumberFormat(LANGUAGE).format(ticked.length);
  tallied('sum').textContent = AMOUNT.format(sum / 100);
  if (!form) return;
  form.elements.chosen_count.value = ticked.length;
  form.elements.chosen_sum.value = sum;
};
addEventListener('change', ({ target }) => {
  if (target.matches('[data-choose-all]'))
    for (const row of rows()) row.checked = target.checked && !row.disabled;
  if (target.matches('[data-choose-all], [data-row]')) tally();
});
// A browser that goes back has the boxes ticked as they were.
addEventListener('pageshow', tally);

// A list follows other desks: what they decided on stays where it is, marked, so that nothing moves below a pointer; what is new comes last.
const followed = document.querySelector('[data-follow]');
const listedIn = (root) =>
  new Map([...root.querySelectorAll('[data-listed]')].map((one) => [one.dataset.listed, one.closest('tr')]));
let lost = 0;
const leave = (row) => {
  row.classList.add('gone');
  const box = row.querySelector('[data-row]');
  if (box?.checked) lost += 1;
  if (box) Object.assign(box, { checked: false, disabled: true });
  row.querySelector('[data-listed]').insertAdjacentHTML('afterend', '<br><small></small>');
  row.querySelector('small').textContent = followed.dataset.gone;
};
const follow = async () => {
  const headers = { 'X-Unattended': '1' };
  const answer = await fetch(followed.dataset.follow, { headers }).catch(() => undefined);
  const text = answer?.ok ? await answer.text() : '';
  if (text === '') return;
  const page = new DOMParser().parseFromString(text, 'text/html');
  const now = listedIn(page);
  const shown = listedIn(followed);
  if (shown.size === 0 && now.size > 0) return location.reload();
  for (const [name, row] of shown) if (!now.has(name) && !row.matches('.gone')) leave(row);
  for (const [name, row] of now) if (!shown.has(name)) followed.querySelector('tbody').append(row);
  for (const button of page.querySelectorAll('[data-follow] [name="decision"]'))
    if (!followed.querySelector(`[name="decision"][value="${button.value}"]`))
      followed.querySelector('.sticky')?.append(button);
  if (lost > 0) {
    const told = tallied('lost');
    told.textContent = `· ${told.dataset.text.replace('{}', lost)}`;
    told.hidden = false;
  }
  tally();
};

// What follows the log is not put in place between the press of a button and its release: a click begins and ends on one element.
let pressed = false;
const held = new Map();
const release = () => {
  pressed = false;
  // After the click that the release makes.
  setTimeout(() => {
    const late = [...held.values()];
    held.clear();
    for (const part of late) if (part.target?.isConnected) htmx.swap(part);
  });
};
addEventListener('pointerdown', ({ button }) => (pressed = button === 0), true);
addEventListener('pointerup', release, true);
addEventListener('pointercancel', release, true);
addEventListener('blur', release);
addEventListener('htmx:before:swap', (event) => {
  if (!pressed) return;
  event.preventDefault();
  held.set(event.target, event.detail.ctx);
});

// Opened before the scripts had come, it asks now for what it has to show.
addEventListener('htmx:after:init', ({ target }) => {
  if (target.matches('details[open]')) target.dispatchEvent(new Event('toggle'));
});

// Who types uses the session. Once it is over, the form says so and keeps what was typed, until the same person has another one.
const ASK_AFTER_MS = 60_000;
const over = document.getElementById('session-over');
const typedInto = new Set();
let askedAt = Date.now();
let checked;
const goesOn = async (form) => {
  askedAt = Date.now();
  const answer = await fetch('/session').catch(() => undefined);
  const others = answer?.ok && answer.headers.get('X-Owner') !== document.body.dataset.owner;
  over.hidden = answer !== undefined && answer.status !== 401 && !others;
  if (!over.hidden) form.prepend(over);
  else if (answer.ok) {
    const token = await answer.text();
    for (const field of document.querySelectorAll('[name="form_token"]')) field.value = token;
    document.body.setAttribute('hx-headers:inherited', JSON.stringify({ 'X-Form-Token': token }));
  }
  return over.hidden;
};
addEventListener('input', ({ target: { form } }) => {
  if (!form) return;
  typedInto.add(form);
  if (Date.now() - askedAt >= ASK_AFTER_MS) void goesOn(form);
});
const checkFirst = async (form, submitter) => {
  checked = form;
  const sends = await goesOn(form);
  checked = undefined;
  if (!sends) return;
  typedInto.delete(form);
  form.requestSubmit(submitter);
};
addEventListener(
  'submit',
  (event) => {
    const { target: form, submitter } = event;
    if (!typedInto.has(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (checked !== form) void checkFirst(form, submitter);
  },
  true,
);

addEventListener('DOMContentLoaded', () => {
  // One after another: an older answer must not undo a newer one.
  let following = Promise.resolve();
  if (followed)
    document.getElementById('live')?.addEventListener('changed', () => {
      following = following.then(follow, follow);
    });
  // The session has ended: the page says so instead of showing what is old, or beside what was typed.
  document.getElementById('live')?.addEventListener('ended', () => {
    const form = [...typedInto].findLast(({ isConnected }) => isConnected);
    if (form) void goesOn(form);
    else location.reload();
  });
});
