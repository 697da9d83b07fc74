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

addEventListener('change', (event) => {
  if (!event.target.matches('[data-choose-all]')) return;
  for (const row of rows()) row.checked = event.target.checked;
});

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

addEventListener('DOMContentLoaded', () => {
  // The session has ended: the page says so instead of showing what is old.
  document.getElementById('live')?.addEventListener('ended', () => location.reload());
});
